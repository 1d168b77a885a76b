public import BSONCore
public import BSONQuery

/// The verbs that read. None of them waits: they read the file as it is.
extension Query {
    /// Returns the documents.
    ///
    /// ```swift
    /// let adults = try people.find(["age": ["$gte": 18]]).fetch()
    /// ```
    ///
    /// A document that does not decode is in the result's `failures`, not an error; the result's
    /// `strict` throws for it.
    ///
    /// - Throws: `badValue` and others for an invalid query; `corrupt` for a damaged document; 292
    ///   for a sort that needs more than 100 MiB.
    public func fetch() throws -> FoundDocuments<Document> {
        FoundDocuments(decoding: try stored(), by: decode)
    }

    /// Returns the documents.
    ///
    /// - Throws: as the form for other types does.
    public func fetch() throws -> [BSONDocument] where Document == BSONDocument { try stored() }

    /// Returns the first document, or `nil`.
    ///
    /// ```swift
    /// let oldest = try people.find().sort(["age": -1]).first()
    /// ```
    ///
    /// - Throws: as `fetch()` does; `DocumentDecodingFailure` if the document does not decode.
    public func first() throws -> Document? {
        let found: BSONDocument?
        if let id = plainID {
            found = try store.read { transaction in
                // A collation makes other ids equal to this one.
                guard Collation.concerns(id),
                    try transaction.options(namespace)?.collation != nil
                else { return try transaction.get(namespace, id: id) }
                return try transaction.find(
                    namespace, filter: filter, options: try FindOptions(limit: 1)
                ).first
            }
        } else {
            var (filter, options) = try parsed()
            options.limit = 1
            found = try store.read {
                try $0.find(namespace, filter: filter, options: options)
            }.first
        }
        return try found.map { try DocumentDecodingFailure.check($0, by: decode) }
    }

    /// Calls a closure with each document that decodes, without holding all of them in memory.
    ///
    /// ```swift
    /// var total = 0
    /// let failures = try todos.find().forEach { total += $0.complexity }
    /// ```
    ///
    /// All documents are of the same moment, whatever other tasks write meanwhile.
    ///
    /// - Returns: the documents that did not decode.
    /// - Throws: as `fetch()` does, and the closure's error, which ends the iteration.
    public func forEach(
        _ body: (Document) throws -> Void
    ) throws -> [DocumentDecodingFailure] {
        var failures: [DocumentDecodingFailure] = []
        try visit { stored in
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

    /// Calls a closure with each document, without holding all of them in memory.
    ///
    /// - Throws: as the form for other types does.
    public func forEach(
        _ body: (BSONDocument) throws -> Void
    ) throws where Document == BSONDocument { try visit(body) }

    /// Returns how many documents there are.
    ///
    /// ```swift
    /// let adultCount = try people.find(["age": ["$gte": 18]]).count()
    /// ```
    ///
    /// - Throws: as `fetch()` does.
    public func count() throws -> Int {
        var (filter, options) = try parsed()
        if refinement.isBounded {
            (options.sort, options.projection) = (nil, nil)
            var count = 0
            try store.read { [options] in
                try $0.forEach(namespace, filter: filter, options: options) { _ in count += 1 }
            }
            return count
        }
        let matching = try store.read {
            try $0.count(namespace, filter: filter, hint: options.hint)
        }
        let rest = Swift.max(0, matching - options.skip)
        return options.limit == 0 ? rest : Swift.min(rest, options.limit)
    }

    /// Returns the distinct values of a field; the elements of an array count one by one.
    ///
    /// ```swift
    /// let cities = try people.find(["age": ["$gte": 18]]).distinct("address.city")
    /// ```
    ///
    /// - Throws: as `fetch()` does; `badValue` for a query with a skip or limit.
    public func distinct(_ field: String) throws -> [BSONValue] {
        var (filter, options) = try parsed()
        guard refinement.isOfAll else {
            throw StoreError(
                .badValue, "distinct takes all documents that match: omit skip and limit",
                namespace: namespace)
        }
        (options.sort, options.projection) = (nil, nil)
        return try store.read { [options] transaction in
            guard refinement.isBounded else {
                return try transaction.distinct(
                    namespace, field: field, filter: filter, hint: options.hint)
            }
            let collation = try transaction.completed(filter, namespace).collation
            var values = try DistinctValues(field, collation: collation)
            try transaction.forEach(namespace, filter: filter, options: options) { document in
                document.withUnsafeBytes { values.insert($0) }
                try values.countMemory()
            }
            return try values.sorted()
        }
    }

    /// Returns a sequence of the documents: as they are now, and again after each change.
    ///
    /// ```swift
    /// for try await snapshot in try todos.find { !$0.done }.sort(\.due).observe() {
    ///     show(snapshot.documents)
    /// }
    /// ```
    ///
    /// A document that does not decode is in each snapshot's `failures` and does not end the
    /// sequence. For a view, pass it to ``ObservedQuery``.
    ///
    /// - Throws: for an invalid query.
    public func observe() throws -> LiveQuery<Document> {
        let (filter, options) = try parsed()
        return LiveQuery(store, namespace, filter, options, decode: decode)
    }

    /// Returns how the query would run, in the shape of MongoDB's command `explain`.
    ///
    /// ```swift
    /// let plan = try people.find(["age": 36]).explain(.executionStats)
    /// ```
    ///
    /// - Parameters:
    ///   - verbosity: whether to run the query and count what it reads.
    ///   - command: what to do with the documents: find or count them, or collect distinct values.
    /// - Throws: as `fetch()` does.
    public func explain(
        _ verbosity: ExplainVerbosity = .queryPlanner, command: ExplainedCommand = .find
    ) throws -> BSONDocument {
        let (filter, options) = try parsed()
        return try store.read { transaction in
            try transaction.explain(
                namespace, filter: filter, options: options, verbosity: verbosity,
                command: command)
        }
    }

    private func stored() throws -> [BSONDocument] {
        let (filter, options) = try parsed()
        return try store.read { try $0.find(namespace, filter: filter, options: options) }
    }

    private func visit(_ body: (BSONDocument) throws -> Void) throws {
        let (filter, options) = try parsed()
        try store.read { try $0.forEach(namespace, filter: filter, options: options, body) }
    }

    /// Returns the `_id` of a query that asks for nothing else, which is looked up at once.
    private var plainID: BSONValue? {
        failure == nil && refinement.isEmpty ? Filter.soleID(filter) : nil
    }
}

extension Query where Document: TypedDocument {
    /// Returns the distinct values of a field.
    ///
    /// - Throws: as `distinct(_:)` of a name does; the decoder's error.
    public func distinct<Value>(
        _ field: KeyPath<Document.Fields, Field<Value>>
    ) throws -> [Value] {
        try values(Document.fields[keyPath: field].path(with: coders.encoder), Value.self)
    }

    /// Returns the distinct elements of an array.
    ///
    /// - Throws: as `distinct(_:)` of a name does; the decoder's error.
    public func distinct<Value: ListFieldValue>(
        _ field: KeyPath<Document.Fields, Field<Value>>
    ) throws -> [Value.Element] where Value.Element: Codable & Sendable {
        try values(Document.fields[keyPath: field].path(with: coders.encoder), Value.Element.self)
    }

    private func values<Value: Decodable>(
        _ path: String, _ type: Value.Type
    ) throws -> [Value] {
        try distinct(path).map { try coders.decoder.decodeValue(type, from: $0) }
    }
}
