/// A writer of single documents as the access policy allows: by a ``RestrictedWriter`` where it restricts
/// the collection, otherwise by the ``DocumentWriter``.
struct PolicyWriter {
    /// The execution of queries as the access policy allows.
    let executor: QueryExecutor
    /// The writer, which knows no policy.
    let writer: DocumentWriter

    /// Returns the writer to a collection that the access policy restricts; `nil` for full access.
    func restricted(_ namespace: Namespace) -> RestrictedWriter? {
        guard let gate = executor.access.gate(namespace) else { return nil }
        return RestrictedWriter(gate: gate, executor: executor, writer: writer)
    }

    /// Adds a document; one without an `_id` gets an ObjectId.
    ///
    /// - Returns: the document as it is stored.
    func insert(
        _ document: BSONDocument, _ namespace: Namespace
    ) throws(StoreError) -> StorableDocument {
        let stored = try StorableDocument(document, in: namespace)
        if let restricted = restricted(namespace) {
            try restricted.insert(stored, namespace)
        } else {
            try writer.insert(stored, namespace)
        }
        return stored
    }

    /// Adds new documents, several per statement where possible.
    func insertBatch(
        _ namespace: Namespace, _ documents: [BSONDocument]
    ) throws(StoreError) {
        guard !documents.isEmpty else { return }
        guard !executor.access.isRestricted(namespace) else {
            for document in documents { _ = try insert(document, namespace) }
            return
        }
        var stored: [StorableDocument] = []
        stored.reserveCapacity(documents.count)
        for document in documents {
            stored.append(try StorableDocument(document, in: namespace))
        }
        try writer.insertBatch(stored, namespace)
    }

    /// Stores a document under its `_id`, replacing an existing one.
    func put(
        _ namespace: Namespace, _ document: BSONDocument
    ) throws(StoreError) -> DocumentImages {
        if let restricted = restricted(namespace) { return try restricted.put(namespace, document) }
        return try writer.put(try StorableDocument(document, in: namespace), namespace)
    }

    /// Replaces a document that this transaction has read and not written since.
    func replace(
        _ namespace: Namespace, _ found: StoredDocument, by document: BSONDocument
    ) throws(StoreError) {
        guard !executor.access.isRestricted(namespace),
            let id = StorableDocument.leadingID(of: document),
            StorableDocument.leadingID(of: found.document) == id
        else {
            _ = try put(namespace, document)
            return
        }
        guard found.document != document else { return }
        try StorableDocument.check(document, id, in: namespace)
        try writer.replace(found, by: document, in: namespace, as: .replace)
    }

    /// Removes the document with an id and returns it, or `nil`.
    func remove(_ namespace: Namespace, id: BSONValue) throws(StoreError) -> BSONDocument? {
        guard let restricted = restricted(namespace) else {
            return try writer.remove(namespace, id: id)
        }
        return try restricted.remove(namespace, id: id)
    }

    /// Removes a document that this transaction has read.
    func remove(_ found: StoredDocument, from namespace: Namespace) throws(StoreError) {
        guard let restricted = restricted(namespace) else {
            return try writer.remove(found, from: namespace)
        }
        try restricted.remove(found, from: namespace)
    }

    /// Returns a document as the access policy shows it.
    func shown(_ document: BSONDocument, _ namespace: Namespace) -> BSONDocument {
        executor.access.gate(namespace)?.shown(document) ?? document
    }
}
