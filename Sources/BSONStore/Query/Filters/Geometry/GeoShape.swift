/// The shape on the globe that a GeoJSON object or a pair of coordinates describes.
package enum GeoShape: Sendable {
    case point(GeoPoint)
    /// Arcs from vertex to vertex.
    case line([GeoPoint])
    /// A ring and its holes.
    case polygon(GeoLoop, holes: [GeoLoop])
    /// The union of these.
    case collection([GeoShape])

    /// The parts that are not collections.
    var parts: [GeoShape] {
        if case .collection(let shapes) = self { shapes.flatMap(\.parts) } else { [self] }
    }

    /// Whether the shape consists of polygons only, and so can contain others.
    var isArea: Bool {
        parts.allSatisfy { if case .polygon = $0 { true } else { false } }
    }
}

/// The spatial relations of shapes on the globe.
enum GeoRelation {
    /// Whether one shape contains another, edges included.
    static func contains(_ container: GeoShape, _ shape: GeoShape) -> Bool {
        shape.parts.allSatisfy { part in
            container.parts.contains { contains(area: $0, part) }
        }
    }

    private static func contains(area: GeoShape, _ part: GeoShape) -> Bool {
        guard case .polygon(let ring, let holes) = area else { return false }
        let points: [GeoPoint]
        let edges: [(GeoPoint, GeoPoint)]
        switch part {
        case .point(let point): (points, edges) = ([point], [])
        case .line(let vertices):
            (points, edges) = (vertices, Array(zip(vertices, vertices.dropFirst())))
        case .polygon(let inner, _): (points, edges) = (inner.vertices, inner.edges)
        case .collection: return false
        }
        guard points.allSatisfy({ holds(ring, holes, $0) }) else { return false }
        for loop in [ring] + holes {
            let sides = loop.edges
            for edge in edges
            where sides.contains(where: { WorkBudget.isOver() || cross($0, edge) }) {
                return false
            }
        }
        if case .polygon(let inner, let gaps) = part {
            // A hole inside the shape is not part of the container, unless the shape has it, too.
            return !holes.contains { hole in
                hole.vertices.allSatisfy { inner.contains($0) && !inner.isOnEdge($0) }
                    && !gaps.contains { gap in
                        hole.vertices.allSatisfy { gap.contains($0) || gap.isOnEdge($0) }
                    }
            }
        }
        return true
    }

    /// Whether a point lies in a ring with holes, edges included.
    static func holds(_ ring: GeoLoop, _ holes: [GeoLoop], _ point: GeoPoint) -> Bool {
        if ring.isOnEdge(point) || holes.contains(where: { $0.isOnEdge(point) }) { return true }
        return ring.contains(point) && !holes.contains { $0.contains(point) }
    }

    /// Whether two shapes have a point in common.
    static func intersect(_ left: GeoShape, _ right: GeoShape) -> Bool {
        left.parts.contains { a in right.parts.contains { b in meet(a, b) } }
    }

    private static func meet(_ left: GeoShape, _ right: GeoShape) -> Bool {
        switch (left, right) {
        case (.collection, _), (_, .collection): false
        case (.point(let a), .point(let b)): a.isSame(as: b)
        case (.point(let point), .line(let line)), (.line(let line), .point(let point)):
            zip(line, line.dropFirst()).contains {
                point.angle(toArc: $0, $1) < GeoPoint.tolerance
            }
        case (.point(let point), .polygon(let ring, let holes)),
            (.polygon(let ring, let holes), .point(let point)):
            holds(ring, holes, point)
        case (.line(let a), .line(let b)):
            touch(Array(zip(a, a.dropFirst())), Array(zip(b, b.dropFirst())))
        case (.line(let line), .polygon(let ring, let holes)),
            (.polygon(let ring, let holes), .line(let line)):
            line.contains { holds(ring, holes, $0) }
                || touch(Array(zip(line, line.dropFirst())), ([ring] + holes).flatMap(\.edges))
        case (.polygon(let a, let aHoles), .polygon(let b, let bHoles)):
            a.vertices.contains { holds(b, bHoles, $0) }
                || b.vertices.contains { holds(a, aHoles, $0) }
                || touch(([a] + aHoles).flatMap(\.edges), ([b] + bHoles).flatMap(\.edges))
        }
    }

    private static func touch(
        _ left: [(GeoPoint, GeoPoint)], _ right: [(GeoPoint, GeoPoint)]
    ) -> Bool {
        left.contains { a in
            right.contains { b in
                if WorkBudget.isOver() { return false }
                return cross(a, b) || a.0.angle(toArc: b.0, b.1) < GeoPoint.tolerance
                    || a.1.angle(toArc: b.0, b.1) < GeoPoint.tolerance
                    || b.0.angle(toArc: a.0, a.1) < GeoPoint.tolerance
                    || b.1.angle(toArc: a.0, a.1) < GeoPoint.tolerance
            }
        }
    }

    /// Whether two arcs cross between their ends.
    static func cross(_ left: (GeoPoint, GeoPoint), _ right: (GeoPoint, GeoPoint)) -> Bool {
        let normal = left.0.cross(left.1)
        let (c, d) = (-normal.dot(right.0), normal.dot(right.1))
        // Ends that lie on the other arc's circle touch it, but do not cross it.
        guard abs(c) > 1e-15, abs(d) > 1e-15, c * d > 0 else { return false }
        let other = right.0.cross(right.1)
        let (b, a) = (-other.dot(left.1), other.dot(left.0))
        return c * b > 1e-30 && c * a > 1e-30
    }

    /// Returns the least angle between a point and a shape, 0 inside the shape.
    static func angle(from point: GeoPoint, to shape: GeoShape) -> Double {
        var least = Double.infinity
        for part in shape.parts {
            switch part {
            case .point(let other): least = min(least, point.angle(to: other))
            case .line(let vertices):
                for (a, b) in zip(vertices, vertices.dropFirst()) {
                    least = min(least, point.angle(toArc: a, b))
                }
            case .polygon(let ring, let holes):
                if holds(ring, holes, point) { return 0 }
                for (a, b) in ([ring] + holes).flatMap(\.edges) {
                    least = min(least, point.angle(toArc: a, b))
                }
            case .collection: continue
            }
        }
        return least
    }
}
