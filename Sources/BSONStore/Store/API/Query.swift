public import BSONCore
public import BSONQuery

/// A query of a collection, as a value: which documents, in which order, how many and which of their
/// fields.
///
/// `find` makes it, further calls refine a copy of it, and a verb runs it:
///
/// ```swift
/// let open = todos.find { !$0.done }.sort(\.due)
/// let next = try open.limit(10).fetch()
/// let count = try open.count()
/// try await open.update { $0.done.set(true) }
/// ```
///
/// Nothing runs and nothing is thrown before the verb: an invalid filter or limit is its error. Each
/// verb runs the query anew, over one snapshot of the store.
///
/// The query of a `SyncCollection` reads the local documents, and its `update` and `delete` are
/// local writes that sync uploads.
public struct Query<Document: Sendable>: Sendable {
    let store: DocumentStore
    package let namespace: Namespace
    let coders: BSONCoders
    let decode: @Sendable (BSONDocument) throws -> Document
    /// The store or sync engine that runs `update` and `delete`.
    let writer: any QueryWriter
    let filter: BSONDocument
    private(set) var refinement = QueryRefinement()
    /// The error of a closure, for the verb to throw.
    private(set) var failure: (any Error)?

    /// Creates a query.
    ///
    /// - Parameter writer: runs `update` and `delete`; `nil` for the store.
    package init(
        _ store: DocumentStore, _ namespace: Namespace, _ coding: DocumentCoding<Document>,
        _ filter: BSONDocument, writer: (any QueryWriter)? = nil
    ) {
        self.store = store
        self.namespace = namespace
        self.writer = writer ?? store
        self.filter = filter
        coders = coding.coders
        decode = coding.decode
    }

    private init<Other: Sendable>(
        _ other: Query<Other>, decode: @escaping @Sendable (BSONDocument) throws -> Document
    ) {
        (store, namespace, coders) = (other.store, other.namespace, other.coders)
        (writer, filter) = (other.writer, other.filter)
        (refinement, failure) = (other.refinement, other.failure)
        self.decode = decode
    }
}

extension Query where Document: TypedDocument {
    /// Creates a query whose filter a closure makes; the closure's error is the verb's.
    package init(
        _ store: DocumentStore, _ namespace: Namespace, _ coding: DocumentCoding<Document>,
        writer: (any QueryWriter)? = nil, _ filter: (Document.Fields) throws -> TypedFilter
    ) {
        do {
            let bson = try filter(Document.fields).bson(with: coding.encoder)
            self.init(store, namespace, coding, bson, writer: writer)
        } catch {
            // It matches nothing: a failed query must not find all documents.
            self.init(store, namespace, coding, nothing, writer: writer)
            failure = error
        }
    }
}

// MARK: - Refining

extension Query {
    /// Returns the query in an order of fields; without one the order is that of insertion.
    ///
    /// ```swift
    /// let oldest = people.find().sort(["age": -1, "name": 1])
    /// ```
    ///
    /// - Parameter keys: the fields, each with 1 or -1; a later call replaces them.
    public func sort(_ keys: BSONDocument) -> Query { refined { $0.refinement.sort = keys } }

    /// Returns the query without its first documents.
    ///
    /// - Parameter count: how many; a negative number is an error of the verb.
    public func skip(_ count: Int) -> Query { refined { $0.refinement.skip = count } }

    /// Returns the query with at most a number of documents.
    ///
    /// - Parameter count: how many; 0 for none; a negative number is an error of the verb.
    public func limit(_ count: Int) -> Query { refined { $0.refinement.limit = count } }

    /// Returns the query with some fields of its documents; the type must decode without the
    /// others.
    ///
    /// ```swift
    /// let names = try people.find().project(["name": 1]).fetch()
    /// ```
    public func project(_ fields: BSONDocument) -> Query {
        refined { $0.refinement.projection = fields }
    }

    /// Returns the query with the index that it must use, whatever the planner would choose.
    public func hint(_ index: IndexHint) -> Query { refined { $0.refinement.hint = index } }

    /// Returns the query with bounds on the hinted index's keys.
    ///
    /// - Parameters:
    ///   - min: the inclusive lower bound, with all fields of the index; empty for none.
    ///   - max: the exclusive upper bound, with all fields of the index; empty for none.
    public func bounds(min: BSONDocument = [:], max: BSONDocument = [:]) -> Query {
        refined {
            $0.refinement.min = min.isEmpty ? nil : min
            $0.refinement.max = max.isEmpty ? nil : max
        }
    }

    /// Returns the query with a collation for its filter, order, projection and update, such as
    /// `["locale": "de", "strength": 1]`; `["locale": "simple"]` compares bytes.
    public func collation(_ collation: BSONDocument) -> Query {
        refined { $0.refinement.collation = collation }
    }

    /// Returns the query with its documents as values of another type, such as one that has only
    /// the projected fields.
    ///
    /// ```swift
    /// let names = try people.find().project(["name": 1]).decoded(as: PersonName.self).fetch()
    /// ```
    public func decoded<Output: Decodable & Sendable>(as type: Output.Type) -> Query<Output> {
        let coders = coders
        return Query<Output>(self) { try coders.decoder.decode(type, from: $0) }
    }

    private func refined(_ change: (inout Query) throws -> Void) -> Query {
        var query = self
        do {
            try change(&query)
        } catch {
            query.failure = query.failure ?? error
        }
        return query
    }
}

// MARK: - Refining by fields

extension Query where Document: TypedDocument {
    /// Returns the query in the order of one field; a later call replaces it.
    ///
    /// ```swift
    /// let next = todos.find { !$0.done }.sort(\.due)
    /// let last = todos.find { $0.done }.sort(\.due, .descending)
    /// ```
    public func sort<Value>(
        _ field: KeyPath<Document.Fields, Field<Value>>, _ direction: SortDirection = .ascending
    ) -> Query {
        let field = Document.fields[keyPath: field]
        return sort { _ in direction == .ascending ? field.ascending : field.descending }
    }

    /// Returns the query in the order of several fields, of which the first counts most.
    ///
    /// ```swift
    /// let list = todos.find().sort { $0.done.ascending; $0.due.descending }
    /// ```
    public func sort(
        @TypedListBuilder<TypedSort> _ keys: (Document.Fields) throws -> [TypedSort]
    ) -> Query {
        refined { $0.refinement.sort = try Document.sort(keys).bson(with: coders.encoder) }
    }

    /// Returns the query with some fields of its documents; the type must decode without the
    /// others.
    public func project(
        @TypedListBuilder<TypedProjection>
        _ fields: (Document.Fields) throws -> [TypedProjection]
    ) -> Query {
        refined {
            $0.refinement.projection = try Document.projection(fields).bson(with: coders.encoder)
        }
    }
}

/// The direction of a sort.
public enum SortDirection: Sendable, Hashable {
    /// From the least value to the greatest; a missing field sorts as null.
    case ascending
    /// From the greatest value to the least.
    case descending
}

// MARK: - Parsing

/// The filter that no document passes.
private let nothing: BSONDocument = ["_id": ["$in": []]]

/// The parts of a query in addition to its filter.
struct QueryRefinement: Sendable {
    var sort: BSONDocument?
    var skip = 0
    /// The maximum number of documents; `nil` for all.
    var limit: Int?
    var projection: BSONDocument?
    var hint: IndexHint?
    var min: BSONDocument?
    var max: BSONDocument?
    var collation: BSONDocument?

    /// Whether the query means all documents that match.
    var isOfAll: Bool { skip == 0 && limit == nil }
    /// Whether the query names an index, or bounds on its keys.
    var namesIndex: Bool { hint != nil || min != nil || max != nil }
    /// Whether the query has bounds on the keys of an index.
    var isBounded: Bool { min != nil || max != nil }
    /// Whether the query is a filter and nothing else.
    var isEmpty: Bool {
        isOfAll && !namesIndex && sort == nil && projection == nil && collation == nil
    }
}

extension Query {
    /// Returns the filter and options as the store runs them.
    ///
    /// - Throws: the error of a closure, `badValue` for an invalid filter and others, with
    ///   MongoDB's codes and messages.
    package func parsed() throws -> (filter: Filter, options: FindOptions) {
        if let failure { throw failure }
        guard !refinement.isEmpty else { return (try Filter(filter), .all) }
        let collation = try namedCollation()
        let parsed =
            refinement.collation == nil
            ? try Filter(filter)
            : try Filter(
                filter, options: FilterOptions(collation: collation, defersText: true))
        let options = try options(collation)
        guard refinement.limit != 0 else {
            return (try Filter(nothing, options: FilterOptions(collation: collation)), options)
        }
        return (parsed, options)
    }

    /// Returns the collation of the query; `nil` for the collection's own.
    ///
    /// - Throws: `badValue` and others for an invalid collation.
    func namedCollation() throws -> Collation? {
        guard let document = refinement.collation else { return nil }
        return try Collation(document)
    }

    /// Returns the filter of a query that is nothing else.
    ///
    /// - Throws: the error of a closure; `badValue` for a query that has more than a filter.
    package func soleFilter() throws -> BSONDocument {
        if let failure { throw failure }
        guard refinement.isEmpty else {
            throw StoreError(
                .badValue, "a subscription is a filter: omit sort, skip, limit and the like",
                namespace: namespace)
        }
        return filter
    }

    /// Which of the matching documents a write changes; `nil` for all.
    func writtenRange(_ options: FindOptions) -> FindOptions? {
        refinement.isOfAll && !refinement.namesIndex ? nil : options
    }

    private func options(_ collation: Collation?) throws -> FindOptions {
        var options = try FindOptions(
            sort: try refinement.sort.flatMap { (keys) throws(StoreError) in
                keys.isEmpty ? nil : try SortOrder(keys, collation: collation)
            },
            skip: refinement.skip, limit: refinement.limit ?? 0,
            projection: try refinement.projection.flatMap { (fields) throws(StoreError) in
                fields.isEmpty
                    ? nil : try Projection(fields, variables: [:], collation: collation)
            },
            hint: refinement.hint)
        if let min = refinement.min { options.min = min }
        if let max = refinement.max { options.max = max }
        return options
    }
}
