extension BSONDocument {
    /// Returns the document with values of deprecated types replaced by their successors, at all
    /// depths.
    ///
    /// Undefined becomes null, a symbol a string, a DBPointer a DBRef. Code keeps its type.
    ///
    /// Source: MongoDB's BSON corpus, "converted" cases.
    public func replacingDeprecatedTypes() -> BSONDocument {
        var result = BSONDocument()
        for (key, value) in self { result.append(key, value.replacingDeprecatedTypes()) }
        return result
    }
}

extension BSONValue {
    /// Returns the value with deprecated types replaced as in a document.
    public func replacingDeprecatedTypes() -> BSONValue {
        switch self {
        case .double, .string, .binary, .objectID, .bool, .datetime, .null, .regularExpression,
            .javascript, .int32, .timestamp, .int64, .decimal128, .minKey, .maxKey:
            self
        case .document(let nested): .document(nested.replacingDeprecatedTypes())
        case .array(let array): .array(BSONArray(array.map { $0.replacingDeprecatedTypes() }))
        case .undefined: .null
        case .dbPointer(let pointer):
            ["$ref": .string(pointer.namespace), "$id": .objectID(pointer.id)]
        case .symbol(let text): .string(text)
        case .javascriptWithScope(let code):
            .javascriptWithScope(
                BSONJavaScriptWithScope(
                    code: code.code, scope: code.scope.replacingDeprecatedTypes()))
        }
    }
}
