/// A field of an index on places, as `$geoNear` looks for it.
struct GeoIndexField {
    /// What an index measures.
    enum Kind: String {
        /// Pairs of coordinates in a plane.
        case plane = "2d"
        /// Places on the globe.
        case sphere = "2dsphere"
    }

    let path: String
    let kind: Kind
}
