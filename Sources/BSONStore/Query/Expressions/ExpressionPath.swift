/// A field path in an expression: it maps over arrays and knows no positions.
struct ExpressionPath: Sendable, Hashable {
    /// The maximum number of keys in a path.
    static let partsMax = 200

    /// The keys; empty for the value itself.
    let parts: [String]

    /// The path of the value itself.
    static let itself = ExpressionPath(parts: [])

    init(parts: [String]) { self.parts = parts }

    /// Whether both paths have the same names, by their bytes.
    static func == (left: ExpressionPath, right: ExpressionPath) -> Bool {
        left.parts.hasSameBytes(as: right.parts)
    }

    /// Splits a dotted text.
    ///
    /// - Throws: 40352, 40353, 15998, 16410, 16411 or `overflow` with MongoDB's text for an invalid
    ///   path.
    /// - Parameter variable: the variable whose value the path begins at.
    init(_ text: String, behind variable: String? = nil) throws(StoreError) {
        guard !text.isEmpty || variable != nil else {
            throw .location(40352, "FieldPath cannot be constructed with empty string")
        }
        guard !text.isEmpty, text.utf8.last != UInt8(ascii: ".") else {
            throw .location(40353, "FieldPath must not end with a '.'.")
        }
        parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        for (place, part) in parts.enumerated()
        where place == 0 && variable == nil || !Self.isOfReference(part) {
            try Self.validate(fieldName: part)
        }
        guard parts.count <= Self.partsMax else {
            throw StoreError(.overflow, "FieldPath is too long")
        }
    }

    /// Whether a key is that of a field of a DBRef, which a path may lead through.
    ///
    /// Source: MongoDB manual, "Database References", "DBRefs".
    private static func isOfReference(_ key: String) -> Bool {
        ["$id", "$ref", "$db"].contains { $0.utf8.elementsEqual(key.utf8) }
    }

    /// Checks a key of a path or a literal document.
    ///
    /// - Throws: 15998, 16410, 16411 or 16412 with MongoDB's text.
    static func validate(fieldName: String) throws(StoreError) {
        guard let first = fieldName.utf8.first else {
            throw .location(15998, "FieldPath field names may not be empty strings.")
        }
        guard first != UInt8(ascii: "$") else {
            throw .location(
                16410,
                "FieldPath field names may not start with '$'. Consider using $getField or "
                    + "$setField.")
        }
        guard !fieldName.utf8.contains(0) else {
            throw .location(16411, "FieldPath field names may not contain '\0'.")
        }
        guard !fieldName.utf8.contains(UInt8(ascii: ".")) else {
            throw .location(
                16412,
                "FieldPath field names may not contain '.'. Consider using $getField or "
                    + "$setField.")
        }
    }

    /// Returns the value in a document; `nil` if there is none.
    func value(in document: BSONDocument) -> BSONValue? {
        guard parts.count != 1 else { return document[parts[0]] }
        guard !parts.isEmpty else { return .document(document) }
        return Self.value(parts[...], in: document)
    }

    /// Returns the value in an indexed document; `nil` if there is none.
    func value(in index: IndexedDocument) -> BSONValue? {
        var index = index
        var rest = parts[...]
        while let part = rest.popFirst() {
            if rest.isEmpty { return index[part] }
            guard let nested = index.nested(part) else {
                return index[part].flatMap { Self.value(rest, behind: $0) }
            }
            index = nested
        }
        return .document(index.document)
    }

    /// Returns the value in another value; `nil` if there is none.
    func value(in value: BSONValue?) -> BSONValue? {
        guard let value else { return nil }
        return parts.isEmpty ? value : Self.value(parts[...], behind: value)
    }

    private static func value(
        _ parts: ArraySlice<String>, in document: BSONDocument
    ) -> BSONValue? {
        guard let part = parts.first, let value = document[part] else { return nil }
        let rest = parts.dropFirst()
        return rest.isEmpty ? value : self.value(rest, behind: value)
    }

    private static func value(
        _ parts: ArraySlice<String>, behind value: BSONValue
    ) -> BSONValue? {
        switch value {
        case .document(let document): return self.value(parts, in: document)
        case .array(let array):
            var found: [BSONValue] = []
            for case .document(let document) in array {
                if let value = self.value(parts, in: document) { found.append(value) }
            }
            return .array(BSONArray(found))
        default: return nil
        }
    }
}
