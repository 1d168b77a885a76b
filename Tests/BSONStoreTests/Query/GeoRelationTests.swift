import Testing

@testable import BSONQuery
@testable import BSONStore

/// Without these a place would be found on the wrong side of a line, or at the wrong distance.
@Suite struct GeoRelationTests {
    private static func place(_ longitude: Double, _ latitude: Double) -> GeoPoint {
        GeoPoint(longitude: longitude, latitude: latitude)
    }

    /// functional-tests, geospatial/specifiers/geometry/test_geometry_polygon_edge_cases.py: a ring
    /// of 1,000 vertices around the globe holds the point north of one of them.
    @Test func `a ring may surround two opposite points`() {
        let ring = (0..<1_000).map { index in
            GeoPoint(
                longitude: Double(index) * 0.36 - 180,
                latitude: index.isMultiple(of: 2) ? -0.5 : 0.5)
        }
        let loop = GeoLoop(ring, keepsOrder: true)
        #expect(loop.contains(GeoPoint(longitude: 0, latitude: 0)))
        #expect(!loop.contains(GeoPoint(longitude: 0.36, latitude: 0)))
        #expect(loop.contains(GeoPoint(longitude: 3, latitude: 60)))
        #expect(!loop.contains(GeoPoint(longitude: 3, latitude: -60)))
        // A band from one side of the globe to the other.
        let bounds = stride(from: -10.0, through: 190, by: 8)
        let south = bounds.map { GeoPoint(longitude: $0 > 180 ? $0 - 360 : $0, latitude: -1) }
        let north = bounds.map { GeoPoint(longitude: $0 > 180 ? $0 - 360 : $0, latitude: 1) }
        let band = GeoLoop(south + north.reversed())
        #expect(band.contains(GeoPoint(longitude: 0, latitude: 0.1)))
        #expect(band.contains(GeoPoint(longitude: 180, latitude: -0.1)))
        #expect(!band.contains(GeoPoint(longitude: 0, latitude: 5)))
        #expect(!band.contains(GeoPoint(longitude: -90, latitude: 0.1)))
    }

    @Test(arguments: [
        ((0.0, 0.0), (0.0, 90.0), 10_018_695.7), ((0.0, 0.0), (180.0, 0.0), 20_037_391.4),
        ((0.0, 0.0), (1.0, 0.0), 111_318.8), ((-73.9857, 40.7484), (2.2945, 48.8584), 5_837_000.0),
        ((10.0, 10.0), (10.0, 10.0), 0.0),
    ])
    func `distances are those of a globe of 6,378,100 meters`(
        _ from: (Double, Double), _ to: (Double, Double), _ meters: Double
    ) {
        let angle = Self.place(from.0, from.1).angle(to: Self.place(to.0, to.1))
        let distance = angle * GeoPoint.earthRadiusMeters
        #expect(abs(distance - meters) <= max(1_500 * meters / 5_837_000, 60))
    }

    @Test func `the distance of an arc is that of its nearest place`() {
        let (a, b) = (Self.place(-10, 0), Self.place(10, 0))
        #expect(abs(Self.place(0, 5).angle(toArc: a, b) - 5 * .pi / 180) < 1e-12)
        #expect(abs(Self.place(20, 0).angle(toArc: a, b) - 10 * .pi / 180) < 1e-12)
        #expect(Self.place(3, 0).angle(toArc: a, b) < 1e-12)
    }

    @Test func `a place is inside of a ring or outside, whatever its direction and begin`() {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<500 {
            let center = Self.place(
                .random(in: -180...180, using: &random), .random(in: -85...85, using: &random))
            let ring = Self.ring(around: center, radius: 0.1, count: 7)
            let point = Self.place(
                .random(in: -180...180, using: &random), .random(in: -90...90, using: &random))
            let near = Self.ring(around: center, radius: 0.05, count: 5)
            let turned = GeoLoop(Array(ring[3...] + ring[..<3]).reversed())
            let loop = GeoLoop(ring)
            for place in near + [point, center] {
                let angle = center.angle(to: place)
                guard abs(angle - 0.095) > 0.01 else { continue }
                #expect(loop.contains(place) == (angle < 0.095))
                #expect(turned.contains(place) == loop.contains(place))
                #expect(
                    GeoLoop(ring, keepsOrder: true).contains(place)
                        != GeoLoop(ring.reversed(), keepsOrder: true).contains(place))
            }
        }
    }

    @Test func `what a shape holds it meets, and meeting is mutual`() {
        var random = SeededGenerator(seed: 2)
        for _ in 0..<400 {
            let shapes = (0..<2).map { _ in Self.shape(&random) }
            let meets = GeoRelation.intersect(shapes[0], shapes[1])
            #expect(meets == GeoRelation.intersect(shapes[1], shapes[0]))
            if GeoRelation.contains(shapes[0], shapes[1]) { #expect(meets) }
            #expect(GeoRelation.intersect(shapes[0], shapes[0]))
        }
    }

    private static func shape(_ random: inout SeededGenerator) -> GeoShape {
        let center = place(
            .random(in: -3...3, using: &random), .random(in: -3...3, using: &random))
        switch Int.random(in: 0..<3, using: &random) {
        case 0: return .point(center)
        case 1:
            let end = place(center.longitude + 2, .random(in: -3...3, using: &random))
            return .line([center, end])
        default:
            let radius = Double.random(in: 0.005...0.05, using: &random)
            return .polygon(GeoLoop(ring(around: center, radius: radius, count: 6)), holes: [])
        }
    }

    /// Places at nearly the same angle from a center.
    private static func ring(
        around center: GeoPoint, radius: Double, count: Int
    ) -> [GeoPoint] {
        (0..<count).map { index in
            // Unit steps around the center, by the sums of two perpendicular directions.
            let turn = 2 * Double.pi * Double(index) / Double(count)
            let (sine, cosine) = sineAndCosine(turn)
            let latitude = center.latitude + radius * 180 / .pi * sine
            let shrink = sineAndCosine((center.latitude) * .pi / 180).1
            let longitude = center.longitude + radius * 180 / .pi * cosine / shrink
            let wrapped =
                longitude > 180 ? longitude - 360 : longitude < -180 ? longitude + 360 : longitude
            return place(wrapped, min(90, max(-90, latitude)))
        }
    }

    private static func sineAndCosine(_ angle: Double) -> (Double, Double) {
        let point = place(angle * 180 / .pi, 0)
        return (point.y, point.x)
    }
}
