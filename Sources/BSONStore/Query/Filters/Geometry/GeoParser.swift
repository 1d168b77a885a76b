/// A parser for points and shapes, with MongoDB's error texts.
///
/// Source: RFC 7946; MongoDB manual, "GeoJSON Objects"; error texts as in the 7.0 server.
package enum GeoParser {
    /// A point in the plane or, as degrees, on the globe.
    package struct PlanarPoint: Sendable, Hashable {
        var x: Double
        var y: Double

        /// The point on the globe, `nil` if the numbers are not valid degrees.
        package var onGlobe: GeoPoint? {
            GeoPoint.isValid(longitude: x, latitude: y)
                ? GeoPoint(longitude: x, latitude: y) : nil
        }
    }

    /// Parses two numbers of an array or a document; optionally allows more.
    ///
    /// - Throws: `badValue` (2).
    package static func flatPoint(
        _ value: BSONValue?, allowsMore: Bool = false
    ) throws(StoreError) -> PlanarPoint {
        guard let members = members(value) else {
            throw fault("Point must be an array or object, instead got type \(name(value))")
        }
        for index in 0..<2 where !(index < members.count && members[index].isNumber) {
            let found = members.dropFirst(index).first
            throw fault("Point must only contain numeric elements, instead got type \(name(found))")
        }
        guard allowsMore || members.count == 2 else {
            throw fault("Point must only contain two numeric elements")
        }
        let point = PlanarPoint(x: number(members[0]), y: number(members[1]))
        guard point.x.isFinite, point.y.isFinite else {
            throw fault("Point coordinates must be finite numbers")
        }
        return point
    }

    /// Returns the members of an array or a document, `nil` for other values.
    static func members(_ value: BSONValue?) -> [BSONValue]? {
        switch value {
        case .array(let array): array.values
        case .document(let document): document.map(\.value)
        default: nil
        }
    }

    /// Returns a number of any width as a double.
    package static func number(_ value: BSONValue) -> Double {
        switch BSONNumber(value) {
        case .integer(let value): Double(value)
        case .double(let value): value
        case .decimal(let value): Double(value.description) ?? .nan
        case nil: .nan
        }
    }

    /// Whether a value is a pair of coordinates rather than GeoJSON.
    package static func isLegacy(_ value: BSONValue) -> Bool {
        if value.type == .array { return true }
        return value.documentValue?.firstElement?.value.isNumber ?? false
    }

    /// Parses a GeoJSON object of any type.
    ///
    /// - Throws: `badValue` (2).
    package static func shape(_ document: BSONDocument) throws(StoreError) -> GeoShape {
        let coordinates = document["coordinates"]
        switch document["type"]?.stringValue {
        case "Point": return .point(try point(document))
        case "LineString":
            _ = try keepsOrder(document, allowed: false)
            return .line(try line(coordinates))
        case "Polygon":
            let isStrict = try keepsOrder(document, allowed: true)
            return try isStrict ? strictPolygon(coordinates) : polygon(coordinates)
        case "MultiPoint":
            _ = try keepsOrder(document, allowed: false)
            let points = try places(coordinates)
            guard !points.isEmpty else { throw tooFew("MultiPoint coordinates") }
            return .collection(points.map { .point($0) })
        case "MultiLineString":
            return try many(document, "MultiLineString") { (value) throws(StoreError) in
                .line(try line(value))
            }
        case "MultiPolygon": return try many(document, "MultiPolygon", polygon)
        case "GeometryCollection": return try collection(document["geometries"])
        default:
            throw fault("unknown GeoJSON type: \(ShellText.text(of: document))")
        }
    }

    /// Parses a GeoJSON point.
    ///
    /// - Throws: `badValue` (2).
    static func point(_ document: BSONDocument) throws(StoreError) -> GeoPoint {
        if let type = document["type"], type.stringValue != "Point" {
            throw fault(
                "Expected geojson geometry with type Point, but got type "
                    + (known.contains(type.stringValue ?? "") ? type.stringValue ?? "" : "unknown"))
        }
        _ = try keepsOrder(document, allowed: false)
        return try onGlobe(flatPoint(document["coordinates"], allowsMore: true))
    }

    private static let known: Set = [
        "Point", "LineString", "Polygon", "MultiPoint", "MultiLineString", "MultiPolygon",
        "GeometryCollection",
    ]

    /// Returns the point on the globe at the given degrees.
    static func onGlobe(_ point: PlanarPoint) throws(StoreError) -> GeoPoint {
        guard let place = point.onGlobe else {
            throw fault(
                "Longitude/latitude is out of bounds, lng: \(text(point.x)) lat: \(text(point.y))")
        }
        return place
    }

    /// Returns a number as C++ streams print it: without a zero fraction.
    private static func text(_ number: Double) -> String {
        Int64(exactly: number).map { String($0) } ?? String(number)
    }

    private static func many(
        _ document: BSONDocument, _ type: String,
        _ read: (BSONValue?) throws(StoreError) -> GeoShape
    ) throws(StoreError) -> GeoShape {
        _ = try keepsOrder(document, allowed: false)
        let coordinates = document["coordinates"]
        guard let array = coordinates?.arrayValue else {
            throw fault(
                "\(type) coordinates must be an array, instead got type \(name(coordinates))")
        }
        var shapes: [GeoShape] = []
        for value in array { shapes.append(try read(value)) }
        guard !shapes.isEmpty else { throw tooFew("\(type) coordinates") }
        return .collection(shapes)
    }

    private static func collection(_ value: BSONValue?) throws(StoreError) -> GeoShape {
        guard let array = value?.arrayValue else {
            throw fault(
                "GeometryCollection geometries must be an array, instead got type \(name(value))")
        }
        guard !array.isEmpty else { throw tooFew("GeometryCollection geometries") }
        var shapes: [GeoShape] = []
        for (index, member) in array.values.enumerated() {
            let shown = ShellText.text(of: member)
            guard let document = member.documentValue else {
                throw fault(
                    "Element \(index) of \"geometries\" must be an object, instead got type "
                        + "\(name(member)): \(shown)")
            }
            let type = document["type"]?.stringValue ?? ""
            guard known.contains(type) else { throw fault("Unknown GeoJSON type: \(shown)") }
            guard type != "GeometryCollection" else {
                throw fault("GeometryCollections cannot be nested: \(shown)")
            }
            shapes.append(try shape(document))
        }
        return .collection(shapes)
    }

    static func fault(_ message: String) -> StoreError { StoreError(.badValue, message) }

    private static func tooFew(_ what: String) -> StoreError {
        fault("\(what) must have at least 1 element")
    }

    static func name(_ value: BSONValue?) -> String { value?.type.alias ?? "missing" }
}
