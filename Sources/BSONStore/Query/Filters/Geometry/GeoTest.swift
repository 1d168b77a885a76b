/// A test whether a stored shape lies within another or intersects it: `$geoWithin`,
/// `$geoIntersects`.
///
/// Source: MongoDB manual, "Geospatial Query Operators".
package struct GeoTest: Sendable {
    /// The region with which stored shapes are compared.
    enum Region: Sendable {
        case shape(GeoShape)
        /// The points within an angle, in radians, of a point.
        case cap(GeoPoint, radius: Double)
        /// A rectangle in the plane.
        case box(GeoParser.PlanarPoint, GeoParser.PlanarPoint)
        /// A polygon in the plane.
        case polygon([GeoParser.PlanarPoint])
        /// A circle in the plane.
        case circle(GeoParser.PlanarPoint, radius: Double)
    }

    /// Whether shapes must lie within the region; otherwise they must intersect it.
    let isWithin: Bool
    let region: Region

    /// Parses a field's operators: exactly one, with a region.
    ///
    /// - Throws: `badValue` (2) with MongoDB's text.
    init(_ document: BSONDocument) throws(StoreError) {
        var elements = document.makeIterator()
        guard let (name, operand) = elements.next() else {
            throw GeoParser.fault("geo query doesn't have any geometry")
        }
        if let extra = elements.next() {
            throw GeoParser.fault(
                "can't parse extra field: \(extra.key): \(ShellText.text(of: extra.value))")
        }
        guard ["$geoWithin", "$within", "$geoIntersects"].contains(name) else {
            throw GeoParser.fault(
                "invalid geo query predicate: \(ShellText.text(of: document))")
        }
        isWithin = name != "$geoIntersects"
        guard let shapes = operand.documentValue else {
            throw GeoParser.fault("geometry must be an object")
        }
        var region: Region?
        for (key, value) in shapes {
            if region != nil, name == "$geoWithin" {
                throw GeoParser.fault(
                    "$geoWithin doesn't accept multiple shapes \(name): "
                        + ShellText.text(of: operand))
            }
            if key != "$uniqueDocs" { region = try Self.region(key, value) }
        }
        guard let region else {
            throw GeoParser.fault("geo query doesn't have any geometry")
        }
        self.region = region
        try check(document)
    }

    private func check(_ document: BSONDocument) throws(StoreError) {
        let shown = ShellText.text(of: document)
        switch region {
        case .shape(let shape):
            guard !isWithin || shape.isArea else {
                throw GeoParser.fault("$within not supported with provided geometry: \(shown)")
            }
        case .cap: return
        case .box, .polygon, .circle:
            guard isWithin else {
                throw GeoParser.fault(
                    "$geoIntersect not supported with provided geometry: \(shown)")
            }
        }
    }

    private static func region(
        _ key: String, _ value: BSONValue
    ) throws(StoreError) -> Region {
        let unknown = GeoParser.fault(
            "unknown geo specifier: \(key): \(ShellText.text(of: value))")
        guard let members = GeoParser.members(value) else { throw unknown }
        let second = members.dropFirst().first
        switch key {
        case "$geometry":
            if GeoParser.isLegacy(value) {
                let point = try GeoParser.flatPoint(value)
                return .shape(.point(try GeoParser.onGlobe(point)))
            }
            guard let document = value.documentValue else { throw unknown }
            return .shape(try GeoParser.shape(document))
        case "$box":
            return .box(
                try GeoParser.flatPoint(members.first), try GeoParser.flatPoint(second))
        case "$polygon":
            var points: [GeoParser.PlanarPoint] = []
            for member in members {
                try WorkBudget.spend()
                points.append(try GeoParser.flatPoint(member))
            }
            guard points.count >= 3 else {
                throw GeoParser.fault(
                    "Polygon must have at least 3 points, instead got \(points.count) vertices")
            }
            return .polygon(points)
        case "$center":
            let center = try GeoParser.flatPoint(members.first)
            return .circle(center, radius: try radius(second, count: members.count))
        case "$centerSphere":
            let center = try GeoParser.onGlobe(try GeoParser.flatPoint(members.first))
            return .cap(center, radius: try radius(second, count: members.count))
        default: throw unknown
        }
    }

    private static func radius(
        _ value: BSONValue?, count: Int
    ) throws(StoreError) -> Double {
        guard let value, value.isNumber, GeoParser.number(value) >= 0 else {
            throw GeoParser.fault(
                "Radius must be a non-negative number: "
                    + (value.map { ShellText.text(of: $0) } ?? "EOO"))
        }
        guard count == 2 else {
            throw GeoParser.fault(
                "Only 2 fields allowed for circular region, but more were provided")
        }
        return GeoParser.number(value)
    }

    /// Whether a stored value is a shape that passes.
    func passes(_ value: BSONValue) -> Bool {
        guard let stored = StoredGeometry(value) else { return false }
        switch region {
        case .shape(let shape):
            guard let globe = stored.onGlobe else { return false }
            return isWithin
                ? GeoRelation.contains(shape, globe) : GeoRelation.intersect(shape, globe)
        case .cap(let center, let radius):
            guard let globe = stored.onGlobe else { return false }
            guard isWithin else {
                return GeoRelation.angle(from: center, to: globe) <= radius
            }
            return Self.isIn(center, radius, globe)
        case .box(let a, let b):
            guard let point = stored.flat else { return false }
            return (min(a.x, b.x)...max(a.x, b.x)).contains(point.x)
                && (min(a.y, b.y)...max(a.y, b.y)).contains(point.y)
        case .polygon(let vertices):
            return stored.flat.map { PlanarPolygon.contains(vertices, $0) } ?? false
        case .circle(let center, let radius):
            return stored.flat.map { PlanarPolygon.isNear(center, $0, radius) } ?? false
        }
    }

    private static func isIn(_ center: GeoPoint, _ radius: Double, _ shape: GeoShape) -> Bool {
        // The points outside of a cap are near the opposite place.
        func isOutside(_ part: GeoShape) -> Bool {
            GeoRelation.angle(from: center.opposite, to: part) < .pi - radius - GeoPoint.tolerance
        }
        return shape.parts.allSatisfy { part in
            switch part {
            case .point(let point): center.angle(to: point) <= radius
            case .line(let vertices):
                vertices.allSatisfy { center.angle(to: $0) <= radius } && !isOutside(part)
            case .polygon(let ring, _):
                ring.vertices.allSatisfy { center.angle(to: $0) <= radius } && !isOutside(part)
            case .collection: false
            }
        }
    }
}
