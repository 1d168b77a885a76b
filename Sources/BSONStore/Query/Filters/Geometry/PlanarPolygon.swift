/// The geometry of polygons in the plane.
enum PlanarPolygon {
    /// Whether a point lies in a polygon, edges included.
    static func contains(
        _ vertices: [GeoParser.PlanarPoint], _ point: GeoParser.PlanarPoint
    ) -> Bool {
        var isInside = false
        for index in vertices.indices {
            if WorkBudget.isOver() { return false }
            let (a, b) = (vertices[index], vertices[(index + 1) % vertices.count])
            if isOn(a, b, point) { return true }
            guard (a.y > point.y) != (b.y > point.y) else { continue }
            let x = a.x + (point.y - a.y) / (b.y - a.y) * (b.x - a.x)
            if point.x < x { isInside.toggle() }
        }
        return isInside
    }

    private static func isOn(
        _ a: GeoParser.PlanarPoint, _ b: GeoParser.PlanarPoint, _ point: GeoParser.PlanarPoint
    ) -> Bool {
        let cross = (b.x - a.x) * (point.y - a.y) - (b.y - a.y) * (point.x - a.x)
        return cross == 0 && (min(a.x, b.x)...max(a.x, b.x)).contains(point.x)
            && (min(a.y, b.y)...max(a.y, b.y)).contains(point.y)
    }

    /// Returns the distance of two points.
    static func distance(_ a: GeoParser.PlanarPoint, _ b: GeoParser.PlanarPoint) -> Double {
        ((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y)).squareRoot()
    }
}
