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

    /// Adds a query; one for certain ids adds those.
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

    /// The query if nothing else is needed.
    var onlyQuery: (namespace: Namespace, query: DocumentNeed.Query)? {
        guard needs.count == 1, !needsIndexes, let need = needs.values.first else { return nil }
        if need.queries.count == 1, need.ids.isEmpty { return (need.namespace, need.queries[0]) }
        return nil
    }

    /// Notes that the indexes are needed.
    mutating func addIndexes() { needsIndexes = true }
}

extension CommandNeeds {
    /// Collects what a command reads.
    ///
    /// - Throws: the errors of the command's arguments, which the command itself reports.
    init(_ subject: ReadSubject, of call: CommandCall) throws {
        needsIndexes = Self.namesIndexes(call)
        try add(subject, of: call)
    }

    private mutating func add(_ subject: ReadSubject, of call: CommandCall) throws {
        switch subject {
        case .filter: add(try Self.query(call), in: try call.collection())
        case .query, .count:
            add(
                DocumentNeed.Query(
                    filter: call.document("query") ?? [:], collation: call.document("collation")),
                in: try call.collection())
        case .pipeline: try addPipeline(call)
        case .firstOfQuery:
            add(
                DocumentNeed.Query(
                    filter: call.document("query") ?? [:], collation: call.document("collation"),
                    variables: call.document("let"), sort: call.document("sort"), limit: 1),
                in: try call.collection())
        case .explained: try addExplained(call)
        // The statements are read one by one (``StatementNeeds``), and the others are no documents.
        case .statements, .collections, .databases, .tombstones: break
        }
    }

    /// Adds what the command inside an `explain` reads; one that a user under access rules may not
    /// send reads nothing.
    private mutating func addExplained(_ call: CommandCall) throws {
        guard let inner = call.target.documentValue, let name = inner.keys.first,
            let definition = CommandTable.find(name)
        else { return }
        switch definition.underRules {
        case .refused, .harmless, .reads(.explained): break
        case .reads(let subject), .writes(let subject):
            try add(
                subject, of: call.standing(for: inner, as: definition.signature, givenName: name))
        }
    }

    private static func query(_ call: CommandCall) throws -> DocumentNeed.Query {
        let sort = call.document("sort")
        // A natural order is that of the collection, whose documents must then all be here.
        let isNatural =
            sort?["$natural"] != nil || call.document("hint")?["$natural"] != nil
        let limit = call.number("limit") ?? 0
        let (last, isTooMany) = max(0, call.number("skip") ?? 0)
            .addingReportingOverflow(abs(max(limit, -1_000_000_000)))
        return DocumentNeed.Query(
            filter: call.document("filter") ?? [:], collation: call.document("collation"),
            variables: call.document("let"), sort: isNatural ? nil : sort,
            limit: isNatural || isTooMany || limit == 0 ? 0 : last)
    }

    private mutating func addPipeline(_ call: CommandCall) throws {
        let stages = Array(call.array("pipeline") ?? [])
        if call.target.stringValue != nil {
            var conditions: [BSONValue] = []
            for stage in stages {
                guard let match = stage.documentValue?["$match"] else { break }
                conditions.append(match)
            }
            let filter: BSONDocument =
                conditions.count > 1
                ? ["$and": .array(BSONArray(conditions))]
                : conditions.first?.documentValue ?? [:]
            add(
                DocumentNeed.Query(
                    filter: filter, collation: call.document("collation"),
                    variables: call.document("let")),
                in: try call.collection())
        }
        addSources(of: stages, in: call.database, 0)
    }

    /// Adds the other collections that stages read.
    mutating func addSources(of stages: [BSONValue], in database: String, _ depth: Int) {
        guard depth < 100 else { return }
        for stage in stages {
            guard let (name, value) = stage.documentValue?.firstElement else { continue }
            switch name {
            case "$lookup", "$graphLookup": addSource(value.documentValue?["from"], database)
            case "$unionWith":
                addSource(
                    value.stringValue == nil ? value.documentValue?["coll"] : value, database)
            default: break
            }
            addInner(value, in: database, depth)
        }
    }

    /// Adds the collections of pipelines inside a stage.
    private mutating func addInner(_ value: BSONValue, in database: String, _ depth: Int) {
        guard depth < 100 else { return }
        switch value {
        case .array(let array): addSources(of: Array(array), in: database, depth + 1)
        case .document(let document):
            for (_, inner) in document { addInner(inner, in: database, depth + 1) }
        default: break
        }
    }

    private mutating func addSource(_ value: BSONValue?, _ database: String) {
        if let name = value?.stringValue {
            add(.all, in: Namespace(database, name))
        } else if let other = value?.documentValue, let name = other["coll"]?.stringValue {
            add(.all, in: Namespace(other["db"]?.stringValue ?? database, name))
        }
    }

    private static let indexWords: Set<String> = [
        "hint", "$text", "$near", "$nearSphere", "$geoNear", "min", "max",
    ]

    /// Whether a command names an index, or an operator that needs one.
    static func namesIndexes(_ call: CommandCall) -> Bool {
        namesIndexes(.document(call.body), 0)
            || call.sequences.values.joined().contains { namesIndexes(.document($0), 0) }
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
