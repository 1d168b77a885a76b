/// An order of documents by the values of fields, as in MongoDB.
///
/// An array sorts by its least value if ascending and by its greatest if descending; keys that lead
/// through the same array use the values of one member. A missing field sorts as null, an empty
/// array before null.
public struct SortOrder: Sendable {
    /// A field or a value of `$meta`, with its direction.
    package struct Key: Sendable {
        package let path: FieldPath
        package let isDescending: Bool
        /// The name of the document's metadata that replaces a field.
        package var metadata: String?
    }

    package let keys: [Key]
    /// The collation of texts; `nil` compares their bytes.
    package let collation: Collation?
    /// Whether the order of insertion is reversed, as `{$natural: -1}` requests.
    package let reversesInsertion: Bool
    /// Whether the order is that of insertion, forwards or reversed.
    package let isNatural: Bool
    /// Whether a path contains a number, which may be a position in an array.
    private let hasPositions: Bool

    init(keys: [Key]) {
        self.init(keys: keys, collation: nil)
    }

    /// Returns the same order with texts compared by a collation.
    package func collated(_ collation: Collation?) -> SortOrder {
        isNatural ? self : SortOrder(keys: keys, collation: collation)
    }

    private init(keys: [Key], collation: Collation?) {
        self.keys = keys
        self.collation = collation
        isNatural = false
        reversesInsertion = false
        hasPositions = Self.havePositions(keys)
    }

    private static func havePositions(_ keys: [Key]) -> Bool {
        keys.contains { key in
            key.path.parts.count > 1 && key.path.parts.contains { FieldPath.index($0) != nil }
        }
    }

    /// Parses a sort document such as `["age": -1, "name": 1]`.
    ///
    /// - Throws: 15974, 15975, 17312 and others with MongoDB's text for an invalid direction.
    public init(_ document: BSONDocument) throws(StoreError) {
        try self.init(document, collation: nil)
    }

    /// Parses a sort document; texts compare by the collation.
    ///
    /// - Throws: as ``init(_:)``.
    public init(_ document: BSONDocument, collation: Collation?) throws(StoreError) {
        var keys: [Key] = []
        var reverses = false
        isNatural = document.contains(key: "$natural")
        for (field, direction) in document {
            if field == "$natural" {
                reverses = try Self.isDescending(field, direction)
            } else if let order = direction.documentValue {
                keys.append(try Self.metadataKey(order))
            } else {
                let path = try Self.path(field)
                keys.append(
                    Key(path: path, isDescending: try Self.isDescending(field, direction)))
            }
        }
        self.keys = keys
        self.collation = collation?.unlessSimple
        reversesInsertion = reverses
        hasPositions = Self.havePositions(keys)
    }

    /// Checks that a sort document has no more fields than an index may have; `$meta` is no field.
    ///
    /// - Throws: 13103.
    package static func checkCount(of document: BSONDocument) throws(StoreError) {
        guard document.count(where: { $0.value.documentValue == nil }) <= 32 else {
            throw StoreError(.tooManyIndexKeys, "too many compound keys")
        }
    }

    private static func isDescending(
        _ field: String, _ direction: BSONValue
    ) throws(StoreError) -> Bool {
        guard direction.isNumber else {
            throw StoreError(
                .sortDirectionNotNumber,
                "Illegal key in $sort specification: \(field): "
                    + ShellText.text(of: direction))
        }
        switch direction.clampedNumber {
        case 1: return false
        case -1: return true
        default:
            throw StoreError(
                .sortDirectionUnknown,
                "$sort key ordering must be 1 (for ascending) or -1 (for descending)")
        }
    }

    private static func path(_ field: String) throws(StoreError) -> FieldPath {
        FieldPath(parts: try ExpressionPath(field).parts)
    }

    private static func metadataKey(_ order: BSONDocument) throws(StoreError) -> Key {
        guard let (name, value) = order.firstElement, name == "$meta" else {
            throw StoreError(
                .sortExpressionNotMeta,
                "$meta is the only expression supported by $sort right now")
        }
        guard order.count == 1 else {
            throw StoreError(
                .failedToParse, "Cannot have additional keys in a $meta sort specification")
        }
        guard let text = value.stringValue,
            ["textScore", "randVal", "searchScore", "geoNearDistance"].contains(text)
        else {
            throw StoreError(
                .sortMetadataUnknown,
                "Illegal $meta sort: $meta: \(ShellText.text(of: value))")
        }
        // As in MongoDB, the greatest value sorts first, also of a distance.
        return Key(path: .itself, isDescending: true, metadata: text)
    }

    /// Whether ``key(of:metadata:)`` needs the values of `$meta`.
    package var needsMetadata: Bool { keys.contains { $0.metadata != nil } }

    /// Returns bytes that sort in the order of the documents.
    ///
    /// If keys lead through different arrays, each chooses its value by itself.
    package func key(of document: BSONDocument, metadata: [String: BSONValue] = [:]) -> [UInt8] {
        let (key, isAmbiguous) = plainKey(of: document, metadata)
        guard isAmbiguous else { return key }
        do throws(ParallelArrays) {
            return try arrayKey(of: document) ?? key
        } catch {
            return key
        }
    }

    /// Returns bytes as ``key(of:metadata:)``, but throws for documents that MongoDB cannot sort.
    ///
    /// - Throws: `badValue` (2) if keys lead through different arrays, 16746 if a number is a
    ///   position in an array and a field of its members.
    func checkedKey(
        of document: BSONDocument, metadata: [String: BSONValue]
    ) throws(StoreError) -> [UInt8] {
        if hasPositions {
            for key in keys { try Self.checkPositions(key.path.parts[...], .document(document)) }
        }
        let (key, isAmbiguous) = plainKey(of: document, metadata)
        // Two arrays are refused even if each has one element or none.
        guard isAmbiguous || hasTwoArrays(in: document) else { return key }
        do throws(ParallelArrays) {
            return try arrayKey(of: document) ?? key
        } catch {
            throw StoreError(.badValue, "cannot sort with keys that are parallel arrays")
        }
    }

    /// Throws if a part of a path is a position in an array and also a field of its members.
    ///
    /// Source: the server's `btree_key_generator.cpp`, `_extractNextElement`.
    private static func checkPositions(
        _ parts: ArraySlice<String>, _ value: BSONValue
    ) throws(StoreError) {
        guard let part = parts.first else { return }
        switch value {
        case .document(let document):
            if let inner = document[part] { try checkPositions(parts.dropFirst(), inner) }
        case .array(let array):
            let members = array.values
            guard let position = FieldPath.index(part), position < members.count else {
                for case .document(let member) in members {
                    try WorkBudget.spend()
                    try checkPositions(parts, .document(member))
                }
                return
            }
            for case .document(let member) in members {
                try WorkBudget.spend()
                guard member[part] == nil else {
                    throw .location(
                        16746,
                        "Ambiguous field name found in array (do not use numeric field names in "
                            + "embedded elements in an array), field: '\(part)' for array: "
                            + ShellText.text(of: value))
                }
            }
            try checkPositions(parts.dropFirst(), members[position])
        default: return
        }
    }

    /// Returns the key with each part chosen by itself, and whether several parts had a choice.
    private func plainKey(
        of document: BSONDocument, _ metadata: [String: BSONValue]
    ) -> ([UInt8], Bool) {
        var choices = 0
        let joined: [UInt8] = document.withUnsafeBytes { bytes in
            self.key(metadata) { (visit: Visit) in
                var count = 0
                PathTraversal.visit(visit.parts[...], document: bytes, keepsElements: true) {
                    value in
                    count += 1
                    visit.body(value)
                }
                if count > 1 { choices += 1 }
            }
        }
        return (joined, choices > 1)
    }

    /// Returns bytes that sort in the order of single values, for the `$sort` of `$push`.
    func key(of value: BSONValue) -> [UInt8] {
        let wrapped: BSONDocument = ["": value]
        return wrapped.withCursor { cursor in
            guard let element = cursor.next() else { return [] }
            return key([:]) { visit in
                PathTraversal.visit(
                    visit.parts[...], value: element.value, keepsElements: true, visit.body)
            }
        }
    }

    private typealias Visit = (parts: [String], body: (BSONRawValue?) -> Void)

    private func key(
        _ metadata: [String: BSONValue], _ visitValues: (Visit) -> Void
    ) -> [UInt8] {
        var joined: [UInt8] = []
        for key in keys {
            var best: [UInt8]?
            let take = { (value: BSONValue) in
                let encoded = BSONKey.encode(collation?.key(value) ?? value)
                guard let known = best else { return best = encoded }
                let isLess = encoded.lexicographicallyPrecedes(known)
                if isLess != key.isDescending { best = encoded }
            }
            if let name = key.metadata {
                take(metadata[name] ?? .null)
            } else {
                visitValues((key.path.parts, { take($0.map { BSONValue(copying: $0) } ?? .null) }))
            }
            let chosen = best ?? BSONKey.encode(.null)
            joined += key.isDescending ? chosen.map { ~$0 } : chosen
        }
        return joined
    }
}
