#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// A point on the globe, as degrees and as a vector of length 1.
package struct GeoPoint: Sendable, Hashable {
    /// The radius of the earth in meters, as MongoDB defines it.
    static let earthRadiusMeters = 6_378_100.0
    /// The distance, in radians, below which points are equal: about six millimeters.
    static let tolerance = 1e-9

    let longitude: Double
    let latitude: Double
    let x: Double
    let y: Double
    let z: Double

    /// Creates a point from degrees, which must be valid.
    init(longitude: Double, latitude: Double) {
        self.longitude = longitude
        self.latitude = latitude
        let (phi, theta) = (latitude * .pi / 180, longitude * .pi / 180)
        x = cos(phi) * cos(theta)
        y = cos(phi) * sin(theta)
        z = sin(phi)
    }

    private init(x: Double, y: Double, z: Double) {
        self.x = x
        self.y = y
        self.z = z
        longitude = atan2(y, x) * 180 / .pi
        latitude = atan2(z, sqrt(x * x + y * y)) * 180 / .pi
    }

    /// The point on the other side of the globe.
    var opposite: GeoPoint { GeoPoint(x: -x, y: -y, z: -z) }

    /// Whether degrees name a point on the globe.
    static func isValid(longitude: Double, latitude: Double) -> Bool {
        abs(longitude) <= 180 && abs(latitude) <= 90
    }

    /// Returns the angle between two points in radians, exact also for small ones.
    func angle(to other: GeoPoint) -> Double {
        let c = cross(other)
        return atan2(sqrt(c.x * c.x + c.y * c.y + c.z * c.z), dot(other))
    }

    /// Returns the angle to the nearest point of the arc between two others.
    func angle(toArc start: GeoPoint, _ end: GeoPoint) -> Double {
        let nearest = min(angle(to: start), angle(to: end))
        let normal = start.cross(end)
        let length = sqrt(normal.x * normal.x + normal.y * normal.y + normal.z * normal.z)
        guard length > 1e-15 else { return nearest }
        // Between the planes through the ends, the nearest point lies inside the arc.
        let isInside =
            GeoVector.determinant(normal, start, self) > 0
            && GeoVector.determinant(normal, self, end) > 0
        guard isInside else { return nearest }
        let sine = (normal.x * x + normal.y * y + normal.z * z) / length
        return min(nearest, abs(asin(max(-1, min(1, sine)))))
    }

    /// Returns the middle of the arc to another point.
    func middle(to other: GeoPoint) -> GeoPoint {
        let sum = GeoVector(x: x + other.x, y: y + other.y, z: z + other.z)
        let length = sqrt(sum.x * sum.x + sum.y * sum.y + sum.z * sum.z)
        return GeoPoint(x: sum.x / length, y: sum.y / length, z: sum.z / length)
    }

    /// Whether two points are the same.
    func isSame(as other: GeoPoint) -> Bool { angle(to: other) < Self.tolerance }

    func dot(_ other: GeoPoint) -> Double { x * other.x + y * other.y + z * other.z }

    func cross(_ other: GeoPoint) -> GeoVector {
        GeoVector(
            x: y * other.z - z * other.y, y: z * other.x - x * other.z,
            z: x * other.y - y * other.x)
    }
}

/// A direction in space of any length.
struct GeoVector {
    let x: Double
    let y: Double
    let z: Double

    func dot(_ point: GeoPoint) -> Double { x * point.x + y * point.y + z * point.z }

    /// Returns the signed volume that a vector and two points span.
    static func determinant(_ a: GeoVector, _ b: GeoPoint, _ c: GeoPoint) -> Double {
        let cross = b.cross(c)
        return a.x * cross.x + a.y * cross.y + a.z * cross.z
    }
}
