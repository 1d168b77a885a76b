internal import BSONStore

/// The documents of one collection that a command needs.
struct DocumentNeed: Sendable {
    /// The documents of a query's result, in the order of a sort where one is named.
    struct Query: Sendable {
        var filter: BSONDocument = [:]
        var collation: BSONDocument?
        var variables: BSONDocument?
        var sort: BSONDocument?
        /// The maximum number of documents that are needed if the upstream can decide which; 0 for
        /// no limit.
        var limit = 0
        /// Whether documents that the user does not see are needed, too: their keys are taken.
        var includesHidden = false

        /// All documents that the user sees.
        static let all = Query()
    }

    let namespace: Namespace
    var queries: [Query] = []
    /// The documents of these ids, also hidden ones: their keys are taken.
    var ids: [BSONValue] = []

    /// Adds a query; one for certain ids adds those, without its other conditions: the documents are
    /// few, and the query and the rules are applied to them here.
    mutating func add(_ query: Query) {
        if query.collation == nil, let asked = CandidateFilter.ids(of: query.filter) {
            ids += asked
        } else {
            queries.append(query)
        }
    }
}

/// The documents that a command needs, by collection.
struct CommandNeeds: Sendable {
    private(set) var needs: [Namespace: DocumentNeed] = [:]
    /// Whether indexes decide about the answer: a hint, a text or a place needs one.
    private(set) var needsIndexes = false

    init() {}

    /// Adds the ids of documents; those that no document has are left out.
    mutating func add(ids: [BSONValue], in namespace: Namespace) {
        needs[namespace, default: DocumentNeed(namespace: namespace)].ids +=
            ids.filter(\.isStorableID)
    }

    /// Adds a query.
    mutating func add(_ query: DocumentNeed.Query, in namespace: Namespace) {
        needs[namespace, default: DocumentNeed(namespace: namespace)].add(query)
    }

    /// Adds a collection of which nothing is needed but its definition.
    mutating func add(_ namespace: Namespace) {
        if needs[namespace] == nil { needs[namespace] = DocumentNeed(namespace: namespace) }
    }

    /// Adds all that another command needs.
    mutating func add(_ others: CommandNeeds) {
        for (namespace, need) in others.needs {
            add(namespace)
            needs[namespace]?.ids += need.ids
            needs[namespace]?.queries += need.queries
        }
        needsIndexes = needsIndexes || others.needsIndexes
    }

    /// Notes that the indexes are needed.
    mutating func addIndexes() { needsIndexes = true }
}

extension CommandNeeds {
    /// Collects what `findAndModify` reads.
    ///
    /// - Throws: the errors of the command's arguments, which the command itself reports.
    init(firstOfQuery call: CommandCall) throws {
        needsIndexes = call.namesIndexes
        add(
            DocumentNeed.Query(
                filter: call.document("query") ?? [:], collation: call.document("collation"),
                variables: call.document("let"), sort: call.document("sort"), limit: 1),
            in: try call.collection())
    }
}

extension CommandCall {
    /// The collections that the command names, also in the stages of its pipeline.
    var namedCollections: [Namespace] {
        if let inner = target.documentValue {
            return inner.firstElement.map { name, _ in
                standing(for: inner, as: signature, givenName: name).namedCollections
            } ?? []
        }
        let own = Result { try collection() }.value.map { [$0] } ?? []
        let others = PipelineCollections.read(by: array("pipeline") ?? [])
        return own + others.map { Namespace(database, $0) }
    }

    private static let indexWords: Set<String> = [
        "hint", "$text", "$near", "$nearSphere", "$geoNear", "min", "max",
    ]

    /// Whether a command names an index, or an operator that needs one.
    var namesIndexes: Bool {
        Self.namesIndexes(.document(body), 0)
            || sequences.values.joined().contains { Self.namesIndexes(.document($0), 0) }
    }

    private static func namesIndexes(_ value: BSONValue, _ depth: Int) -> Bool {
        guard depth < 100 else { return true }
        switch value {
        case .document(let document):
            return document.contains { name, inner in
                indexWords.contains(name) || namesIndexes(inner, depth + 1)
            }
        case .array(let array): return array.contains { namesIndexes($0, depth + 1) }
        default: return false
        }
    }
}
