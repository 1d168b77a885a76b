extension WriteTransaction {
    /// Checks that a document may be written to a collection.
    ///
    /// - Parameter before: the document to be replaced; `nil` for a new one.
    /// - Throws: `documentValidationFailure` (121) with the violated rules, 166 for a view, 2 for a
    ///   document that a capped collection cannot hold.
    func check(
        _ document: BSONDocument, replacing before: BSONDocument?, in table: CollectionTable
    ) throws(StoreError) {
        guard !table.isPlain else { return }
        if table.options.view != nil {
            throw .view(table.namespace)
        }
        if let capped = table.options.capped, document.byteCount > capped.bytesMax {
            throw StoreError(
                .badValue, "object to insert exceeds cappedMaxSize", namespace: table.namespace)
        }
        guard let validator = table.validator, !bypassesValidation,
            !validator.matches(document)
        else { return }
        if table.options.validationLevel == .moderate, let before, !validator.matches(before) {
            return
        }
        let id = document["_id"] ?? .null
        var error = StoreError(
            .documentValidationFailure, "Document failed validation",
            namespace: table.namespace, documentID: id)
        error.errorInfo = [
            "failingDocumentId": id,
            "details": .document(
                ValidationDetails.details(of: document, validator.document)),
        ]
        throw error
    }

    /// Removes the oldest documents of a capped collection until it is within its bounds.
    func trim(
        _ table: CollectionTable, _ capped: CollectionOptions.Capped, added: Int
    ) throws(StoreError) {
        var usage: CappedUsage
        if let known = cappedUsage[table.id] {
            usage = CappedUsage(count: known.count + 1, bytes: known.bytes + Int64(added))
        } else {
            usage = try self.usage(of: table)
        }
        while usage.bytes > capped.bytesMax || usage.count > capped.documentsMax ?? .max {
            guard let oldest = try oldest(in: table) else { break }
            try delete(oldest, in: table)
            usage.count -= 1
            usage.bytes -= Int64(oldest.document.byteCount)
        }
        cappedUsage[table.id] = usage
    }

    private func usage(of table: CollectionTable) throws(StoreError) -> CappedUsage {
        let statement = try connection.prepare(
            "SELECT count(*), total(length(doc)) FROM \(StoreSchema.tableName(table.id))")
        guard try statement.step() else { return CappedUsage(count: 0, bytes: 0) }
        return CappedUsage(count: statement.int64(0), bytes: statement.int64(1))
    }

    private func oldest(in table: CollectionTable) throws(StoreError) -> StoredDocument? {
        let statement = try connection.prepare(.scanRows, table)
        guard try statement.step() else { return nil }
        let row = statement.int64(1)
        let bytes = statement.bytes(0)
        do throws(BSONError) {
            return StoredDocument(row: row, document: try BSONDocument(validating: bytes))
        } catch {
            throw StoreError(
                .corrupt, "A stored document is not valid BSON", namespace: table.namespace,
                underlying: error)
        }
    }
}

/// The number and size of a capped collection's documents.
struct CappedUsage {
    var count: Int64
    var bytes: Int64
}
