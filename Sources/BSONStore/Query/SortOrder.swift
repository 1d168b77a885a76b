/// Orders documents by the values of fields, as MongoDB does.
///
/// An array counts by its least value when ascending and by its greatest when descending; a missing
/// field counts as null, an empty array comes before null.
public struct SortOrder: Sendable {
    /// A field with its direction.
    struct Key: Sendable {
        let path: FieldPath
        let isDescending: Bool
    }

    let keys: [Key]

    init(keys: [Key]) { self.keys = keys }

    /// Reads a sort document such as `["age": -1, "name": 1]`.
    ///
    /// - Throws: `badValue` with MongoDB's text for a direction that is none.
    public init(_ document: BSONDocument) throws(StoreError) {
        var keys: [Key] = []
        for (field, direction) in document {
            guard let number = direction.wholeNumber, number == 1 || number == -1 else {
                throw StoreError(
                    StoreError.Code(rawValue: 15975),
                    "$sort key ordering must be 1 (for ascending) or -1 (for descending)")
            }
            guard !field.isEmpty else {
                throw StoreError(
                    StoreError.Code(rawValue: 40352),
                    "FieldPath cannot be constructed with empty string")
            }
            guard !field.hasPrefix("$") else {
                throw StoreError(
                    StoreError.Code(rawValue: 16410),
                    "FieldPath field names may not start with '$'. Consider using $getField or "
                        + "$setField.")
            }
            keys.append(Key(path: try FieldPath(field), isDescending: number == -1))
        }
        self.keys = keys
    }

    /// Bytes whose order is the wanted order of the documents.
    func key(of document: BSONDocument) -> [UInt8] {
        document.withUnsafeBytes { bytes in
            key { visit in ValuePath.visit(visit.parts[...], document: bytes, visit.body) }
        }
    }

    /// Bytes whose order is the wanted order of single values, for the `$sort` of `$push`.
    func key(of value: BSONValue) -> [UInt8] {
        let wrapped: BSONDocument = ["": value]
        return wrapped.withCursor { cursor in
            guard let element = cursor.next() else { return [] }
            return key { visit in
                ValuePath.visit(visit.parts[...], value: element.value, visit.body)
            }
        }
    }

    private typealias Visit = (parts: [String], body: (BSONRawValue?) -> Void)

    private func key(_ visitValues: (Visit) -> Void) -> [UInt8] {
        var joined: [UInt8] = []
        for key in keys {
            var best: [UInt8]?
            visitValues(
                (
                    key.path.parts,
                    { value in
                        var encoded: [UInt8] = []
                        BSONKey.append(value.map { BSONValue(copying: $0) } ?? .null, to: &encoded)
                        guard let known = best else { return best = encoded }
                        let isLess = encoded.lexicographicallyPrecedes(known)
                        if isLess != key.isDescending { best = encoded }
                    }
                ))
            let chosen = best ?? BSONKey.encode(.null)
            joined += key.isDescending ? chosen.map { ~$0 } : chosen
        }
        return joined
    }
}

/// Visits the values that a path leads to, arrays unwound as in an index.
enum ValuePath {
    /// Calls with each value; `nil` for a missing one; undefined for an empty array at the end.
    static func visit(
        _ parts: ArraySlice<String>, document: UnsafeRawBufferPointer,
        _ body: (BSONRawValue?) -> Void
    ) {
        guard let part = parts.first else { return }
        var cursor = BSONCursor(document)
        while let element = cursor.next() {
            guard part.utf8.elementsEqual(element.key) else { continue }
            return visit(parts.dropFirst(), value: element.value, body)
        }
        body(nil)
    }

    static func visit(
        _ parts: ArraySlice<String>, value: BSONRawValue, _ body: (BSONRawValue?) -> Void
    ) {
        switch value.type {
        case .document where !parts.isEmpty: visit(parts, document: value.bytes, body)
        case .array: visit(parts, array: value, body)
        default: body(parts.isEmpty ? value : nil)
        }
    }

    private static func visit(
        _ parts: ArraySlice<String>, array: BSONRawValue, _ body: (BSONRawValue?) -> Void
    ) {
        var cursor = BSONCursor(array)
        guard let part = parts.first else {
            var isEmpty = true
            while let element = cursor.next() {
                isEmpty = false
                body(element.value)
            }
            if isEmpty {
                let undefined = BSONType.undefined.rawValue
                body(BSONRawValue(typeByte: undefined, start: array.start, count: 0))
            }
            return
        }
        if let index = FieldPath.index(part) {
            var copy = cursor
            if let value = copy.skip(to: index) {
                return visit(parts.dropFirst(), value: value, body)
            }
        }
        var isEmpty = true
        while let element = cursor.next() {
            isEmpty = false
            if element.value.typeByte == BSONType.document.rawValue {
                visit(parts, document: element.value.bytes, body)
            } else {
                body(nil)
            }
        }
        if isEmpty { body(nil) }
    }
}
