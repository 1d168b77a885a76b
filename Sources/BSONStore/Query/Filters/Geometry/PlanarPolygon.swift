/// The geometry of polygons in the plane.
enum PlanarPolygon {
    /// Whether a point lies in a polygon; corners, and horizontal and vertical edges, belong to it,
    /// of other edges those to the right of the inside.
    ///
    /// Source: the server's `shapes.cpp`, `Polygon::contains`.
    static func contains(
        _ vertices: [GeoParser.PlanarPoint], _ point: GeoParser.PlanarPoint
    ) -> Bool {
        var isInside = false
        for index in vertices.indices {
            if WorkBudget.isOver() { return false }
            let (a, b) = (vertices[index], vertices[(index + 1) % vertices.count])
            if isAtEdge(a, b, point) { return true }
            guard point.y > min(a.y, b.y), point.y <= max(a.y, b.y), point.x <= max(a.x, b.x) else {
                continue
            }
            let x = (point.y - a.y) * (b.x - a.x) / (b.y - a.y) + a.x
            if a.x == b.x || point.x <= x { isInside.toggle() }
        }
        return isInside
    }

    /// Whether a point is a corner, or lies on an edge along an axis.
    private static func isAtEdge(
        _ a: GeoParser.PlanarPoint, _ b: GeoParser.PlanarPoint, _ point: GeoParser.PlanarPoint
    ) -> Bool {
        if point == a { return true }
        let isBeside = (min(a.x, b.x)...max(a.x, b.x)).contains(point.x)
        let isLevel = (min(a.y, b.y)...max(a.y, b.y)).contains(point.y)
        return isBeside && isLevel && (a.y == b.y || a.x == b.x)
    }

    /// Whether two points are within a distance, without the rounding of a root.
    ///
    /// Source: the server's `shapes.cpp`, `distanceWithin`.
    static func isNear(
        _ a: GeoParser.PlanarPoint, _ b: GeoParser.PlanarPoint, _ radius: Double
    ) -> Bool {
        let (x, y) = (abs(a.x - b.x), abs(a.y - b.y))
        if x == 0 || y == 0 { return x + y <= radius }
        return x * x + y * y - radius * radius <= 0
    }

    /// Returns the distance of two points.
    static func distance(_ a: GeoParser.PlanarPoint, _ b: GeoParser.PlanarPoint) -> Double {
        ((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y)).squareRoot()
    }
}
