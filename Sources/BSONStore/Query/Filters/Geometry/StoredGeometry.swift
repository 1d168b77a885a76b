/// Is a stored value that is a place or a shape.
struct StoredGeometry {
    /// The point in the plane that it is.
    let flat: GeoParser.PlanarPoint?
    /// The shape on the globe that it is.
    let onGlobe: GeoShape?

    /// Reads a pair of coordinates or GeoJSON; `nil` for what is neither.
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
