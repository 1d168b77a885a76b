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
}
