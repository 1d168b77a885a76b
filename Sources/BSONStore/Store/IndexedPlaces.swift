/// Refuses documents whose fields of a `2dsphere` index hold what is no place on the globe.
///
/// A missing field, null, undefined, and an empty array or document are no place to file, and no
/// error. An array at the end of a path is a pair of coordinates, never a list of places.
///
/// Source: the server's `s2_key_generator.cpp`, `getS2GeoKeys` and `getS2Keys`.
struct IndexedPlaces: Sendable {
    private let paths: [[String]]

    /// Takes the fields of the kind; `nil` for an index without one.
    init?(_ definition: IndexDefinition) {
        let keys = definition.keys.filter { $0.kind == .special("2dsphere") }
        guard !keys.isEmpty else { return nil }
        paths = keys.map {
            $0.path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        }
    }

    /// Looks at the fields of a document.
    ///
    /// - Throws: 16755 with MongoDB's text.
    func check(_ document: BSONDocument) throws(StoreError) {
        for path in paths {
            var values: [BSONValue] = []
            Self.collect(path[...], document, &values)
            if let first = values.first, Self.isNone(first),
                values.allSatisfy({ BSONOrder.compare($0, first) == .equal })
            {
                continue
            }
            let name = path.last ?? ""
            for value in values {
                guard let reason = Self.fault(in: value, name) else { continue }
                throw StoreError(
                    StoreError.Code(rawValue: 16755),
                    "Can't extract geo keys: \(ShellText.text(of: document))  \(reason)")
            }
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

    /// Why a value is no place; `nil` for one that is.
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

    /// The values at a path's end, through arrays on the way; a last array is one value.
    private static func collect(
        _ path: ArraySlice<String>, _ document: BSONDocument, _ values: inout [BSONValue]
    ) {
        guard let part = path.first, let value = document[part] else { return }
        collect(path.dropFirst(), value, &values)
    }

    private static func collect(
        _ path: ArraySlice<String>, _ value: BSONValue, _ values: inout [BSONValue]
    ) {
        guard let part = path.first else { return values.append(value) }
        switch value {
        case .document(let document): collect(path, document, &values)
        case .array(let array):
            if let position = FieldPath.index(part) {
                guard position < array.count, let element = array[position] else { return }
                return collect(path.dropFirst(), element, &values)
            }
            for element in array {
                if let document = element.documentValue { collect(path, document, &values) }
            }
        default: return
        }
    }
}
