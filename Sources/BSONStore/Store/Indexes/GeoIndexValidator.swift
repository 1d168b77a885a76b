/// A check that the fields of a `2dsphere` or `2d` index hold valid places.
///
/// In a `2dsphere` index a missing field, null, undefined, and an empty array or document are valid
/// and have no place; an array at the end of a path is a pair of coordinates, never a list of
/// places. In a `2d` index every value except arrays and documents is valid, and a list of places
/// is allowed.
///
/// Source: the server's `s2_key_generator.cpp` (`getS2GeoKeys`, `getS2Keys`),
/// `expression_keys_private.cpp` (`get2DKeys`) and `hash.cpp` (`GeoHashConverter::hash`).
struct GeoIndexValidator: Sendable {
    private let globePaths: [[String]]
    private let planePaths: [[String]]
    /// Whether documents without a place are in the index, too.
    private let isWhole: Bool
    /// The bounds of a `2d` index, from its options `min` and `max`.
    private let bounds: ClosedRange<Double>

    /// Takes the fields of both kinds; `nil` for an index without any.
    init?(_ definition: IndexDefinition) {
        func paths(_ kind: String) -> [[String]] {
            definition.keys.filter { $0.kind == .special(kind) }.map {
                $0.path.dottedParts
            }
        }
        globePaths = paths("2dsphere")
        planePaths = paths("2d")
        guard !globePaths.isEmpty || !planePaths.isEmpty else { return nil }
        isWhole =
            definition.document["2dsphereIndexVersion"].map { BSONOrder.compare($0, 1) == .equal }
            ?? false
        let least = GeoParser.number(definition.document["min"] ?? -180)
        let most = GeoParser.number(definition.document["max"] ?? 180)
        bounds = least < most ? least...most : -180...180
    }

    /// Checks the fields of a document.
    ///
    /// - Throws: 16755 (`2dsphere`), 13026, 13027, 13068 or 16804 (`2d`) with MongoDB's messages.
    func check(_ document: BSONDocument) throws(StoreError) {
        try checkGlobe(document)
        for path in planePaths {
            for value in FieldPath.geometries(path[...], document) {
                try checkPlane(value, document)
            }
        }
    }

    /// Whether a document has a key in the index.
    ///
    /// Geo indexes are sparse: a `2dsphere` index has the documents with a value in one of its
    /// geo fields, a `2d` index those with a pair of coordinates. Only version 1 of `2dsphere` has
    /// all documents.
    ///
    /// Source: MongoDB manual, "2dsphere Indexes", "sparse Property".
    func holds(_ document: BSONDocument) -> Bool {
        if isWhole { return true }
        let hasShape = globePaths.contains { path in
            let values = FieldPath.geometries(path[...], document)
            guard let first = values.first else { return false }
            return values.count > 1 || !Self.isNone(first)
        }
        return hasShape
            || planePaths.contains { path in
                FieldPath.geometries(path[...], document).contains { value in
                    guard let members = Self.elements(value), let first = members.first else {
                        return false
                    }
                    if first.isNumber { return true }
                    return members.contains { Self.elements($0)?.isEmpty == false }
                }
            }
    }

    private func checkGlobe(_ document: BSONDocument) throws(StoreError) {
        for path in globePaths {
            let values = FieldPath.geometries(path[...], document)
            if let first = values.first, Self.isNone(first),
                values.allSatisfy({ BSONOrder.compare($0, first) == .equal })
            {
                continue
            }
            let name = path.last ?? ""
            for value in values {
                guard let reason = Self.fault(in: value, name) else { continue }
                throw StoreError(
                    .geoKeysNotExtractable,
                    "Can't extract geo keys: \(ShellText.text(of: document))  \(reason)")
            }
        }
    }

    /// Checks a pair of coordinates as array or document, or a list of pairs.
    private func checkPlane(_ value: BSONValue, _ document: BSONDocument) throws(StoreError) {
        guard let elements = Self.elements(value), let first = elements.first else { return }
        if first.isNumber { return try checkPair(elements, document) }
        for element in elements {
            guard let pair = Self.elements(element) else {
                throw StoreError(
                    .malformedLocation,
                    "location object expected, location array not in correct format")
            }
            if !pair.isEmpty { try checkPair(pair, document) }
        }
    }

    private func checkPair(_ pair: [BSONValue], _ document: BSONDocument) throws(StoreError) {
        func fault(_ code: Int32, _ text: String) -> StoreError {
            .location(
                code,
                "\(text) :: caused by :: \(ShellText.text(of: document))")
        }
        guard pair.count > 1 else { throw fault(13068, "geo field only has 1 element") }
        guard pair[0].isNumber, pair[1].isNumber else {
            throw fault(13026, "geo values must be 'legacy coordinate pairs' for 2d indexes")
        }
        guard pair[..<2].allSatisfy({ bounds.contains(GeoParser.number($0)) }) else {
            let (least, most) = (bounds.lowerBound, bounds.upperBound)
            throw fault(
                13027,
                "point not in interval of [ \(Self.text(least)), \(Self.text(most)) ]")
        }
    }

    private static func text(_ bound: Double) -> String {
        Int64(exactly: bound).map(String.init) ?? "\(bound)"
    }

    /// Returns the values of an array or of a document's fields; `nil` for any other value.
    private static func elements(_ value: BSONValue) -> [BSONValue]? {
        switch value {
        case .array(let array): Array(array)
        case .document(let document): document.map(\.value)
        default: nil
        }
    }

    private static func isNone(_ value: BSONValue) -> Bool {
        switch value {
        case .null, .undefined: true
        case .document(let document): document.isEmpty
        case .array(let array): array.isEmpty
        default: false
        }
    }

    /// Returns why a value is not a place; `nil` for a valid place.
    private static func fault(in value: BSONValue, _ name: String) -> String? {
        do throws(StoreError) {
            if GeoParser.isLegacy(value) {
                let point = try GeoParser.flatPoint(value, allowsMore: true)
                guard point.onGlobe == nil else { return nil }
                return "can't project geometry into spherical CRS: "
                    + ShellText.text(of: value)
            }
            guard let document = value.documentValue else {
                return "geo element must be an array or object: \(name): "
                    + ShellText.text(of: value)
            }
            let shape = try GeoParser.shape(document)
            let keepsOrder = try GeoParser.keepsOrder(document, allowed: true)
            if case .polygon = shape, keepsOrder, document["type"]?.stringValue == "Polygon" {
                return "can't index geometry with strict winding order"
            }
            return nil
        } catch {
            return error.message
        }
    }
}
