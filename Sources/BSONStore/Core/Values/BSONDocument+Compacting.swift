extension BSONDocument {
    /// The same document, which keeps hardly more bytes alive than it has itself.
    ///
    /// A part shares the bytes of the document that it stood in, and a document from which much was
    /// removed keeps the room. Whatever outlives the row that it came from is compacted, so that
    /// what is counted is what is held.
    package func compacted() -> BSONDocument {
        guard retainedByteCount > 2 * byteCount + 1_024 else { return self }
        return BSONDocument(unchecked: withUnsafeBytes { Array($0) })
    }

    /// How many bytes of memory stay alive with the document.
    package var retainedByteCount: Int { buffer.capacity }
}

extension BSONValue {
    /// The same value, which keeps hardly more bytes alive than it has itself.
    package func compacted() -> BSONValue {
        switch self {
        case .document(let document): return .document(document.compacted())
        case .array(let array): return .array(BSONArray(document: array.document.compacted()))
        case .javascriptWithScope(let code):
            return .javascriptWithScope(
                BSONJavaScriptWithScope(code: code.code, scope: code.scope.compacted()))
        default: return self
        }
    }
}
