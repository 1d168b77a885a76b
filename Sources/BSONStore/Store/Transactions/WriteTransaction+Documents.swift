extension WriteTransaction {
    /// Adds a document with its `_id` as the first field; one without an `_id` gets an ObjectId.
    ///
    /// Empty timestamps stay; the inserts of ``DocumentCollection`` set them to the current time.
    ///
    /// - Returns: the document as it is stored.
    /// - Throws: `duplicateKey` (11000) when the id exists, `documentTooLarge` (10334), and for an
    ///   id that is an array, a regular expression or undefined.
    @discardableResult
    public func insert(
        _ namespace: Namespace, _ document: BSONDocument
    ) throws(StoreError) -> BSONDocument {
        try policyWriter.insert(document, namespace).document
    }

    /// Adds new documents, several per statement where only their ids must be checked: beginning
    /// and ending a statement costs as much as a row.
    ///
    /// - Throws: as ``insert(_:_:)`` does, but the error may not name a duplicate. Some documents
    ///   may have been added: undo the transaction or a savepoint around the call.
    package func insertBatch(
        _ namespace: Namespace, _ documents: [BSONDocument]
    ) throws(StoreError) {
        try policyWriter.insertBatch(namespace, documents)
    }

    /// Stores a document under its `_id`, replacing an existing one.
    ///
    /// - Returns: the documents before and after; equal bytes record no change.
    /// - Throws: as ``insert(_:_:)`` does, except for duplicates.
    @discardableResult
    public func put(
        _ namespace: Namespace, _ document: BSONDocument
    ) throws(StoreError) -> DocumentImages {
        try policyWriter.put(namespace, document)
    }

    /// Replaces a document that this transaction has read and not written since.
    ///
    /// - Throws: as ``put(_:_:)`` does.
    package func replace(
        _ namespace: Namespace, _ found: StoredDocument, by document: BSONDocument
    ) throws(StoreError) {
        try policyWriter.replace(namespace, found, by: document)
    }

    /// Removes the document with an id.
    ///
    /// - Returns: whether it existed.
    @discardableResult
    public func remove(_ namespace: Namespace, id: BSONValue) throws(StoreError) -> Bool {
        try take(namespace, id: id) != nil
    }

    /// Removes the document with an id and returns it, or `nil`.
    @discardableResult
    public func take(
        _ namespace: Namespace, id: BSONValue
    ) throws(StoreError) -> BSONDocument? {
        try policyWriter.remove(namespace, id: id)
    }

    /// Reads documents as ``getFirst(_:ids:bytesMax:)`` does and verifies their checksums, so that
    /// damage does not spread to another store.
    ///
    /// - Throws: as ``getMany(_:ids:)`` does; `corrupt` for a checksum that does not match.
    package func getFirstChecked(
        _ namespace: Namespace, ids: [BSONValue], bytesMax: Int
    ) throws(StoreError) -> [BSONDocument?] {
        guard !access.isRestricted(namespace) else {
            return try getFirst(namespace, ids: ids, bytesMax: bytesMax)
        }
        return try rows.documents(namespace, ids: ids, bytesMax: bytesMax, isChecked: true)
    }

    /// Returns the documents of ids in key order with their rows; `nil` when the ids must be looked
    /// up one by one.
    ///
    /// - Parameter bytesMax: the size after which to stop; the document that reaches it is
    ///   included.
    /// - Throws: as ``getMany(_:ids:)`` does.
    package func findInKeyOrder(
        _ namespace: Namespace, ids: [BSONValue], bytesMax: Int = .max
    ) throws(StoreError) -> [StoredDocument?]? {
        guard !access.isRestricted(namespace) else { return nil }
        return try rows.findInKeyOrder(namespace, ids: ids, bytesMax: bytesMax)
    }
}

extension WriteTransaction: AggregationTarget {
    package func first(
        _ namespace: Namespace, _ filter: Filter
    ) throws(StoreError) -> BSONDocument? {
        try find(namespace, filter: filter, options: .first).first
    }

    package func add(_ namespace: Namespace, _ document: BSONDocument) throws(StoreError) {
        try insert(namespace, document)
    }

    package func replace(
        _ namespace: Namespace, _ old: BSONDocument, by new: BSONDocument
    ) throws(StoreError) {
        try put(namespace, new)
    }

    package func setting(
        _ fields: BSONDocument, in existing: BSONDocument
    ) throws(StoreError) -> BSONDocument? {
        try Update(["$set": .document(fields)]).apply(to: existing)
    }

    package func fill(_ namespace: Namespace, _ documents: [BSONDocument]) throws(StoreError) {
        if let gate = access.gate(namespace) { throw gate.reportedDenial(of: [:]) }
        do {
            try savepoint {
                try deleteMany(namespace, filter: .all)
                try catalogWriter.writer.onTableForWriting(namespace) { _ in }
                for document in documents { try insert(namespace, document) }
            }
        } catch let error as StoreError {
            throw error
        } catch {
            throw StoreError(.internalError, "\(error)", underlying: error)
        }
    }
}
