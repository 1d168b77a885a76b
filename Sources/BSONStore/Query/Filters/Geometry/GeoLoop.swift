#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// A closed ring of arcs on the globe with an inside.
///
/// The inside is the smaller part of the globe, or the part to the left if the order matters.
package struct GeoLoop: Sendable {
    /// The vertices, counterclockwise around the smaller part; an arc joins the last and the first.
    let vertices: [GeoPoint]
    /// Whether the inside is the larger part.
    let isLarge: Bool
    /// Whether the ring is in no hemisphere, so that it may surround a point and the one opposite.
    private let isWide: Bool

    /// Creates a ring of distinct vertices; with `keepsOrder`, the inside is the part to the left.
    init(_ vertices: [GeoPoint], keepsOrder: Bool = false) {
        let area = Self.area(vertices)
        isLarge = keepsOrder && area > 2 * .pi
        self.vertices = area > 2 * .pi ? vertices.reversed() : vertices
        let center = GeoVector(
            x: vertices.reduce(0) { $0 + $1.x }, y: vertices.reduce(0) { $0 + $1.y },
            z: vertices.reduce(0) { $0 + $1.z })
        isWide = !vertices.allSatisfy { center.dot($0) > 0 }
    }

    /// Returns the area to the left of the ring, from 0 to 4π.
    private static func area(_ vertices: [GeoPoint]) -> Double {
        var sum = 0.0
        for index in 1..<vertices.count - 1 {
            let (a, b, c) = (vertices[0], vertices[index], vertices[index + 1])
            let volume = a.cross(b).dot(c)
            sum += 2 * atan2(volume, 1 + a.dot(b) + b.dot(c) + c.dot(a))
        }
        let whole = 4 * Double.pi
        let rest = sum.truncatingRemainder(dividingBy: whole)
        return rest < 0 ? rest + whole : rest
    }

    /// The arcs of the ring.
    var edges: [(GeoPoint, GeoPoint)] {
        vertices.indices.map { (vertices[$0], vertices[($0 + 1) % vertices.count]) }
    }

    /// Whether a point lies on the ring.
    func isOnEdge(_ point: GeoPoint) -> Bool {
        vertices.indices.contains { index in
            if WorkBudget.isOver() { return false }
            let end = vertices[(index + 1) % vertices.count]
            return point.angle(toArc: vertices[index], end) < GeoPoint.tolerance
        }
    }

    /// Whether a point lies inside; undefined for points on the ring.
    func contains(_ point: GeoPoint) -> Bool {
        var turn = 0.0
        for (a, b) in edges {
            if WorkBudget.isOver() { return false }
            // The directions to both ends as seen from the point.
            let (ax, ay) = Self.direction(from: point, to: a)
            let (bx, by) = Self.direction(from: point, to: b)
            turn += atan2(ax * by - ay * bx, ax * bx + ay * by)
        }
        // Around two opposite points the ring turns as around neither.
        guard isWide, abs(turn) < .pi else { return (turn > .pi) != isLarge }
        return isLeft(point) != isLarge
    }

    /// Whether a point is in the part to the left: the arcs are counted that lie between the point
    /// and the middle of one of them.
    private func isLeft(_ point: GeoPoint) -> Bool {
        for (index, edge) in edges.enumerated() {
            let side = edge.0.cross(edge.1).dot(point)
            let middle = edge.0.middle(to: edge.1)
            guard abs(side) > 1e-12, point.angle(to: middle) < 3 else { continue }
            let crossings = edges.enumerated().count { other in
                if WorkBudget.isOver() { return false }
                return other.offset != index && GeoRelation.cross((point, middle), other.element)
            }
            return (side > 0) == crossings.isMultiple(of: 2)
        }
        return false
    }

    /// Returns the direction to a point in the plane that touches the globe: east and north.
    private static func direction(
        from point: GeoPoint, to other: GeoPoint
    ) -> (Double, Double) {
        let (phi, theta) = (point.latitude * .pi / 180, point.longitude * .pi / 180)
        let east = -sin(theta) * other.x + cos(theta) * other.y
        let north =
            -sin(phi) * cos(theta) * other.x - sin(phi) * sin(theta) * other.y
            + cos(phi) * other.z
        return (east, north)
    }

    /// Returns the reason why the vertices do not form a ring, in S2's words.
    static func fault(in vertices: [GeoPoint]) -> String? {
        var seen: [GeoPoint: Int] = [:]
        for (index, vertex) in vertices.enumerated() {
            if let first = seen[vertex] { return "Duplicate vertices: \(first) and \(index)" }
            seen[vertex] = index
        }
        guard let (first, second) = firstCrossing(vertices) else { return nil }
        let edges = [first, second].map { (vertices[$0], vertices[($0 + 1) % vertices.count]) }
        return "Edges \(first) and \(second) cross. Edge locations in degrees: "
            + "\(text(edges[0])) and \(text(edges[1]))"
    }

    /// Returns the first two edges in order that cross; `nil` if none do, or the budget is over.
    ///
    /// A plane sweeps over the globe, and only edges that it meets at the same time are compared.
    private static func firstCrossing(_ vertices: [GeoPoint]) -> (Int, Int)? {
        let spans = vertices.indices.map { edge in
            EdgeSpan(edge, vertices[edge], vertices[(edge + 1) % vertices.count])
        }
        var open: [EdgeSpan] = []
        var found: (Int, Int)?
        let order = spans.sorted { WorkBudget.isOver() ? false : $0.x.lowerBound < $1.x.lowerBound }
        for span in order {
            open.removeAll { $0.x.upperBound < span.x.lowerBound }
            for other in open where span.y.overlaps(other.y) && span.z.overlaps(other.z) {
                if WorkBudget.isOver() { return nil }
                let (first, second) = (min(span.edge, other.edge), max(span.edge, other.edge))
                guard second - first > 1, first != 0 || second != vertices.count - 1 else {
                    continue
                }
                if let found, found < (first, second) { continue }
                let a = (vertices[first], vertices[first + 1])
                let b = (vertices[second], vertices[(second + 1) % vertices.count])
                if GeoRelation.cross(a, b) { found = (first, second) }
            }
            if WorkBudget.isOver(after: 1 + open.count >> 8) { return nil }
            open.append(span)
        }
        return found
    }

    /// The room that an edge takes.
    private struct EdgeSpan {
        let edge: Int
        let x: ClosedRange<Double>
        let y: ClosedRange<Double>
        let z: ClosedRange<Double>

        init(_ edge: Int, _ a: GeoPoint, _ b: GeoPoint) {
            self.edge = edge
            // An arc is farther from the center than its chord, by less than this.
            let bulge = 1 - cos(a.angle(to: b) / 2) + 1e-12
            func range(_ a: Double, _ b: Double) -> ClosedRange<Double> {
                min(a, b) - bulge...max(a, b) + bulge
            }
            x = range(a.x, b.x)
            y = range(a.y, b.y)
            z = range(a.z, b.z)
        }
    }

    private static func text(_ edge: (GeoPoint, GeoPoint)) -> String {
        [edge.0, edge.1].map { "[\(degrees($0.latitude)), \(degrees($0.longitude))]" }
            .joined(separator: "-")
    }

    private static func degrees(_ value: Double) -> String {
        let scaled = Int64((abs(value) * 1e7).rounded())
        let fraction = String(scaled % 10_000_000)
        let zeros = String(repeating: "0", count: 7 - fraction.utf8.count)
        return "\(value < 0 ? "-" : "")\(scaled / 10_000_000).\(zeros)\(fraction)"
    }
}
