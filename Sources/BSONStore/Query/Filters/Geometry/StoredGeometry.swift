/// A stored value that is a point or a shape.
struct StoredGeometry {
    /// The point in the plane, if the value is one.
    let flat: GeoParser.PlanarPoint?
    /// The shape on the globe, if the value is one.
    let onGlobe: GeoShape?

    /// Parses a pair of coordinates or GeoJSON; `nil` for other values.
    init?(_ value: BSONValue) {
        do throws(StoreError) {
            if GeoParser.isLegacy(value) {
                let point = try GeoParser.flatPoint(value, allowsMore: true)
                flat = point
                onGlobe = point.onGlobe.map { .point($0) }
                return
            }
            guard let document = value.documentValue else { return nil }
            let shape = try GeoParser.shape(document)
            onGlobe = shape
            if case .point(let place) = shape {
                flat = GeoParser.PlanarPoint(x: place.longitude, y: place.latitude)
            } else {
                flat = nil
            }
        } catch {
            return nil
        }
    }
}
