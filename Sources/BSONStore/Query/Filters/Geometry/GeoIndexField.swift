/// A field of an index on places, which `$geoNear` searches for.
package struct GeoIndexField {
    /// The kind of distances that an index measures.
    package enum Kind: String {
        /// Pairs of coordinates in a plane.
        case plane = "2d"
        /// Places on the globe.
        case sphere = "2dsphere"
    }

    package let path: String
    package let kind: Kind

    /// Creates a field.
    package init(path: String, kind: Kind) {
        self.path = path
        self.kind = kind
    }
}
