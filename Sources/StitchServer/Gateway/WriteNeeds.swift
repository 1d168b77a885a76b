internal import BSONStore

/// The documents that a write needs in its excerpt, by collection.
struct WriteNeeds: Sendable {
    private(set) var collections: [Namespace: DocumentNeed] = [:]
    /// Whether indexes decide about the answer: a hint, a text or a place needs one.
    private(set) var needsIndexes = false

    init() {}

    /// Adds the ids of documents; those that no document has are left out.
    mutating func add(ids: [BSONValue], in namespace: Namespace) {
        collections[namespace, default: DocumentNeed()].ids += ids.filter(\.isStorableID)
    }

    /// Adds a query.
    mutating func add(_ query: ClientQuery, in namespace: Namespace) {
        collections[namespace, default: DocumentNeed()].add(query)
    }

    /// Adds a filter of documents that have the keys of a refused write.
    mutating func add(conflict filter: BSONDocument, in namespace: Namespace) {
        collections[namespace, default: DocumentNeed()].add(conflict: filter)
    }

    /// Adds a collection of which nothing is needed but its definition.
    mutating func add(_ namespace: Namespace) {
        if collections[namespace] == nil { collections[namespace] = DocumentNeed() }
    }

    /// Adds all that another write needs.
    mutating func add(_ other: WriteNeeds) {
        for (namespace, need) in other.collections {
            collections[namespace, default: DocumentNeed()].add(need)
        }
        needsIndexes = needsIndexes || other.needsIndexes
    }

    /// Notes that the indexes are needed.
    mutating func addIndexes() { needsIndexes = true }
}

/// The documents of one collection that a write needs in its excerpt.
struct DocumentNeed: Sendable {
    /// The queries whose documents are needed, of those that the user sees.
    private(set) var queries: [ClientQuery] = []
    /// The documents of these ids, also hidden ones: their keys are taken.
    var ids: [BSONValue] = []
    /// The filters of the documents that have the keys of a refused write, also hidden ones.
    private(set) var conflicts: [BSONDocument] = []

    /// Adds a query; one for certain ids adds those, without its other conditions: the documents are
    /// few, and the query and the rules are applied to them here.
    mutating func add(_ query: ClientQuery) {
        if let ids = query.ids { self.ids += ids } else { queries.append(query) }
    }

    /// Adds a filter of documents that have the keys of a refused write.
    mutating func add(conflict filter: BSONDocument) {
        if let ids = ClientQuery(filter: filter).ids {
            self.ids += ids
        } else {
            conflicts.append(filter)
        }
    }

    /// Adds what another need of the collection names.
    mutating func add(_ other: DocumentNeed) {
        queries += other.queries
        ids += other.ids
        conflicts += other.conflicts
    }
}

extension WriteNeeds {
    /// Collects what `findAndModify` reads.
    ///
    /// - Throws: the errors of the command's arguments, which the command itself reports.
    init(firstOfQuery call: CommandCall) throws {
        needsIndexes = call.namesIndexes
        add(
            ClientQuery(
                filter: call.document("query") ?? [:], collation: call.document("collation"),
                variables: call.document("let"), sort: call.document("sort"), limit: 1),
            in: try call.collection())
    }
}
