extension Update {
    /// Reads a document that replaces another one.
    ///
    /// - Throws: `badValue` (2) for operators, and as the other initializers.
    init(replacement document: BSONDocument) throws(StoreError) {
        try self.init(document)
        guard isReplacement else {
            throw StoreError(
                .badValue, "the replace operation document must not contain atomic operators")
        }
    }

    /// Makes the update that stores a whole document, whatever its fields are named.
    ///
    /// A replacement may not have top-level fields that begin with `$`; a pipeline may. Empty
    /// timestamps stay: they were stored, and no insert of an app.
    ///
    /// - Throws: as the other initializers.
    package init(storing document: BSONDocument) throws(StoreError) {
        if document.keys.contains(where: { $0.utf8.first == UInt8(ascii: "$") }) {
            try self.init(pipeline: [["$replaceWith": ["$literal": .document(document)]]])
        } else {
            try self.init(replacement: document)
        }
        keepsEmptyTimestamps = true
    }
}

extension DocumentCoding {
    /// Returns the update that replaces a stored document by an app's value.
    ///
    /// BSON without an original replaces it as it is. Of other values only what the edit changed is
    /// written onto the stored document.
    ///
    /// - Parameters:
    ///   - original: the value that the edit began with; `nil` for the stored one.
    ///   - finish: changes the document to write.
    /// - Throws: `badValue` (2) for operators, `DocumentDecodingFailure` if there is an original and
    ///   the stored document does not decode.
    package func replacing(
        _ stored: BSONDocument?, by document: Document, from original: Document? = nil,
        _ finish: (BSONDocument) -> BSONDocument = { $0 }
    ) throws -> Update {
        guard let stored, !isRaw || original != nil else {
            return try Update(replacement: finish(encode(document)))
        }
        return try Update(storing: finish(write(document, from: original, onto: stored)))
    }
}
