/// A condition on the distance from a point: `$near`, `$nearSphere` and `$geoNear`.
///
/// Distances are meters for a GeoJSON point, radians for coordinates on the globe, and the units of
/// the coordinates in the plane.
///
/// Source: MongoDB manual, "$near" and "$nearSphere".
package struct GeoNear: Sendable {
    /// The point from which distances are measured.
    enum Center: Sendable {
        case meters(GeoPoint)
        case radians(GeoPoint)
        case plane(GeoParser.PlanarPoint)
    }

    let center: Center
    private(set) var distanceMin = 0.0
    private(set) var distanceMax = Double.infinity

    /// Creates a condition with a center and optional bounds.
    init(center: Center, distanceMin: Double = 0, distanceMax: Double = .infinity) {
        self.center = center
        self.distanceMin = distanceMin
        self.distanceMax = distanceMax
    }

    /// Parses a field's operators, which begin with one of the three.
    ///
    /// - Throws: `badValue` (2) or 16893 and others with MongoDB's text.
    init(_ document: BSONDocument) throws(StoreError) {
        if let legacy = try Self.legacy(document) {
            self = legacy
        } else {
            self = try Self.modern(document)
        }
    }

    /// Returns the distance of a stored shape, also beyond the bounds; `nil` for another value.
    func distance(to value: BSONValue) -> Double? {
        guard let stored = StoredGeometry(value) else { return nil }
        switch center {
        case .meters(let point):
            return stored.onGlobe.map {
                GeoRelation.angle(from: point, to: $0) * GeoPoint.earthRadiusMeters
            }
        case .radians(let point):
            return stored.onGlobe.map { GeoRelation.angle(from: point, to: $0) }
        case .plane(let point):
            return stored.flat.map { PlanarPolygon.distance(point, $0) }
        }
    }

    /// Parses coordinates, or a GeoJSON point without `$geometry`; `nil` if there are none.
    private static func legacy(_ document: BSONDocument) throws(StoreError) -> GeoNear? {
        var near: GeoNear?
        var bounds = GeoNear(center: .plane(GeoParser.PlanarPoint(x: 0, y: 0)))
        for (key, value) in document {
            switch key {
            case "$near", "$nearSphere", "$geoNear":
                guard GeoParser.members(value) != nil else { return nil }
                guard let (found, limit) = center(value, isSphere: key == "$nearSphere") else {
                    continue
                }
                near = GeoNear(center: try found.get())
                if let limit {
                    guard limit >= 0 else {
                        throw .location(18522, "max distance must be non-negative")
                    }
                    bounds.distanceMax = limit
                }
            case "$minDistance":
                bounds.distanceMin = try bound(value, key, 16893, 16894)
            case "$maxDistance":
                bounds.distanceMax = try bound(value, key, 16895, 16896)
            case "$uniqueDocs": continue
            default: throw .location(34413, "invalid argument in geo near query: \(key)")
            }
        }
        near?.distanceMin = bounds.distanceMin
        near?.distanceMax = bounds.distanceMax
        return near
    }

    private static func bound(
        _ value: BSONValue, _ key: String, _ noNumber: Int32, _ negative: Int32
    ) throws(StoreError) -> Double {
        guard value.isNumber else { throw .location(noNumber, "\(key) must be a number") }
        let number = GeoParser.number(value)
        guard number >= 0 else { throw .location(negative, "\(key) must be non-negative") }
        return number
    }

    /// Parses the center and, as a third number, the greatest distance; `nil` for other values.
    private static func center(
        _ value: BSONValue, isSphere: Bool
    ) -> (Result<Center, StoreError>, Double?)? {
        do throws(StoreError) {
            guard GeoParser.isLegacy(value) else {
                guard let document = value.documentValue else { return nil }
                return (.success(.meters(try GeoParser.point(document))), nil)
            }
            let members = GeoParser.members(value) ?? []
            let isLimited = members.count == 3 && members[2].isNumber
            let point = try GeoParser.flatPoint(value, allowsMore: isLimited)
            let limit = isLimited ? GeoParser.number(members[2]) : nil
            guard isSphere else { return (.success(.plane(point)), limit) }
            guard let place = point.onGlobe else {
                return (
                    .failure(
                        GeoParser.fault("Legacy point is out of bounds for spherical query")),
                    limit
                )
            }
            return (.success(.radians(place)), limit)
        } catch {
            return nil
        }
    }

    /// Parses a document with `$geometry`.
    private static func modern(_ document: BSONDocument) throws(StoreError) -> GeoNear {
        var elements = document.makeIterator()
        guard let (key, operand) = elements.next() else {
            throw GeoParser.fault("empty geo near query object")
        }
        if let extra = elements.next() {
            throw GeoParser.fault(
                "geo near accepts just one argument when querying for a GeoJSON point. Extra field "
                    + "found: \(extra.key): \(ShellText.text(of: extra.value))")
        }
        guard let argument = operand.documentValue else {
            throw GeoParser.fault(
                "invalid point in geo near query \(key) argument: "
                    + ShellText.text(of: operand))
        }
        var center: Center?
        var near = GeoNear(center: .plane(GeoParser.PlanarPoint(x: 0, y: 0)))
        for (name, value) in argument {
            switch name {
            case "$geometry":
                guard GeoParser.members(value) != nil else { continue }
                center = .meters(try geometry(value))
            case "$minDistance": near.distanceMin = try distance(value, name)
            case "$maxDistance": near.distanceMax = try distance(value, name)
            default: throw GeoParser.fault("invalid argument in geo near query: \(name)")
            }
        }
        guard let center else {
            throw GeoParser.fault("$geometry is required for geo near query")
        }
        return GeoNear(
            center: center, distanceMin: near.distanceMin, distanceMax: near.distanceMax)
    }

    private static func geometry(_ value: BSONValue) throws(StoreError) -> GeoPoint {
        let shown = ShellText.text(of: value)
        do throws(StoreError) {
            if GeoParser.isLegacy(value) {
                _ = try GeoParser.flatPoint(value)
            } else if let document = value.documentValue {
                return try GeoParser.point(document)
            }
        } catch {
            throw GeoParser.fault(
                "invalid point in geo near query $geometry argument: \(shown)  \(error.message)")
        }
        throw GeoParser.fault("$near requires geojson point, given \(shown)")
    }

    private static func distance(
        _ value: BSONValue, _ name: String
    ) throws(StoreError) -> Double {
        guard value.isNumber else { throw GeoParser.fault("\(name) must be a number") }
        let number = GeoParser.number(value)
        guard number >= 0, number.isFinite else {
            throw GeoParser.fault("\(name) must be non-negative")
        }
        return number
    }
}
