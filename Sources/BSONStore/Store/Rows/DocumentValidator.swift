/// A check of documents against the options of their collection.
struct DocumentValidator {
    /// Whether to skip the collections' validators.
    let bypassesValidation: Bool
    /// Whether to refuse documents of capped collections.
    let leavesCappedAlone: Bool

    /// Checks that a document may be written to a collection.
    ///
    /// - Parameter before: the document to be replaced; `nil` for a new one.
    /// - Throws: `documentValidationFailure` (121) with the violated rules, 166 for a view, 263 for
    ///   a capped collection in a client's transaction; the budget's error once it is over.
    func check(
        _ document: BSONDocument, replacing before: BSONDocument?, in table: CollectionTable
    ) throws(StoreError) {
        guard !table.isPlain else { return }
        if table.options.view != nil {
            throw .view(table.namespace)
        }
        guard table.options.capped == nil || !leavesCappedAlone else {
            throw StoreError(
                .operationNotSupportedInTransaction,
                "Collection '\(table.namespace)' is a capped collection. Writes in "
                    + "transactions are not allowed on capped collections.")
        }
        guard let validator = table.validator, !bypassesValidation else { return }
        let isValid = validator.matches(document)
        // A match that the end of the budget cut short proves nothing.
        try WorkBudget.spend()
        guard !isValid else { return }
        if table.options.validationLevel == .moderate, let before, !validator.matches(before) {
            return try WorkBudget.spend()
        }
        let id = document["_id"] ?? .null
        var error = StoreError(
            .documentValidationFailure, "Document failed validation",
            namespace: table.namespace, documentID: id)
        error.errorInfo = [
            "failingDocumentId": id,
            "details": .document(
                ValidationDetails.details(of: document, validator)),
        ]
        throw error
    }
}
