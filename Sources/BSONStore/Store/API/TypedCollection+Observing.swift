extension TypedCollection {
    /// Returns a live query of the documents that match a filter.
    ///
    /// ```swift
    /// for try await snapshot in try todos.observe(["done": false]) { show(snapshot.documents) }
    /// ```
    ///
    /// A document that does not decode is in each snapshot's `failures` and does not end the query.
    ///
    /// - Parameter limit: the largest number of documents in a snapshot; 0 for all.
    /// - Throws: for an invalid filter or limit.
    public func observe(
        _ filter: BSONDocument = [:], sort: SortOrder? = nil, limit: Int = 0
    ) throws(StoreError) -> LiveQuery<Document> {
        let decoder = decoder
        return LiveQuery(
            documents, try Filter(filter), try FindOptions(sort: sort, limit: limit)
        ) { try decoder.decode(Document.self, from: $0) }
    }

    /// Calls a body with every document that matches a filter and decodes, from one snapshot of the
    /// store.
    ///
    /// ```swift
    /// var total = 0
    /// let failures = try todos.forEach { total += $0.complexity }
    /// ```
    ///
    /// Unlike `find`, it does not hold all documents in memory.
    ///
    /// - Returns: the documents that did not decode.
    /// - Throws: for an invalid filter, and the body's error, which ends the iteration.
    public func forEach(
        _ filter: BSONDocument = [:], options: FindOptions = .all,
        _ body: (Document) throws -> Void
    ) throws -> [DocumentDecodingFailure] {
        try documents.forEach(
            filter, options, decodedBy: { try decoder.decode(Document.self, from: $0) }, body)
    }
}

extension TypedCollection where Document: TypedDocument {
    /// Returns a live query of the documents that fulfil a condition.
    ///
    /// ```swift
    /// for try await snapshot in try todos.observe({ $0.complexity <= 4 }) {
    ///     show(snapshot.documents)
    /// }
    /// ```
    ///
    /// A document that does not decode is in each snapshot's `failures` and does not end the query.
    ///
    /// - Parameters:
    ///   - limit: the largest number of documents in a snapshot; 0 for all.
    ///   - sort: the order; without one the order of insertion.
    /// - Throws: as `TypedFilter/bson(with:)` does; `badValue` (2) for a negative number.
    public func observe(
        limit: Int = 0,
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter,
        @TypedListBuilder<TypedSort> sort: (Document.Fields) throws -> [TypedSort] =
            TypedListBuilder<TypedSort>.nothing
    ) throws -> LiveQuery<Document> {
        try observe(try bson(filter), sort: try order(sort), limit: limit)
    }

    /// Calls a body with every document that fulfils a condition and decodes, from one snapshot of
    /// the store.
    ///
    /// ```swift
    /// let failures = try todos.forEach(where: { $0.done }) { archive($0) }
    /// ```
    ///
    /// - Returns: the documents that did not decode.
    /// - Throws: as ``forEach(_:options:_:)`` and `TypedFilter/bson(with:)` do.
    public func forEach(
        @TypedFilterBuilder where filter: (Document.Fields) throws -> TypedFilter,
        @TypedListBuilder<TypedSort> sort: (Document.Fields) throws -> [TypedSort] =
            TypedListBuilder<TypedSort>.nothing,
        _ body: (Document) throws -> Void
    ) throws -> [DocumentDecodingFailure] {
        try forEach(
            try bson(filter), options: try FindOptions(sort: try order(sort)), body)
    }
}

extension DocumentCollection {
    /// Calls a body with each document that decodes and returns the failures of the others.
    package func forEach<Document>(
        _ filter: BSONDocument, _ options: FindOptions,
        decodedBy decode: (BSONDocument) throws -> Document, _ body: (Document) throws -> Void
    ) throws -> [DocumentDecodingFailure] {
        var failures: [DocumentDecodingFailure] = []
        try forEach(filter, options: options) { stored in
            let document: Document
            do {
                document = try decode(stored)
            } catch {
                failures.append(
                    DocumentDecodingFailure(error, decoding: stored, as: Document.self))
                return
            }
            try body(document)
        }
        return failures
    }
}
