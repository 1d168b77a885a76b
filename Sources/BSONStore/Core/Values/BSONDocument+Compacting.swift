extension BSONDocument {
    /// Returns the same document with hardly more memory than its own bytes.
    ///
    /// A nested document shares the bytes of its parent, and a document from which much was removed
    /// keeps the room. A document that outlives its row is compacted, so that the counted bytes
    /// equal the bytes in memory.
    package func compacted() -> BSONDocument {
        guard retainedByteCount > 2 * byteCount + 1_024 else { return self }
        return BSONDocument(unchecked: withUnsafeBytes { Array($0) })
    }

    /// The number of bytes of memory that the document keeps alive.
    package var retainedByteCount: Int { buffer.capacity }
}

extension BSONValue {
    /// Returns the same value with hardly more memory than its own bytes.
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
