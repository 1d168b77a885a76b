extension Update {
    /// Reads a document that replaces another one.
    ///
    /// - Throws: `badValue` (2) for operators, and as the other initializers.
    package init(replacement document: BSONDocument) throws(StoreError) {
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
