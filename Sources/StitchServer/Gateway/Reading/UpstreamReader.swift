internal import BSONStore
internal import StitchRules

/// The reader of the upstream's collections for one command.
///
/// A command that reads asks for the documents of each of its queries; a write asks at once for all
/// that it needs in its excerpt.
struct UpstreamReader {
    let link: UpstreamLink
    let catalog: UpstreamCatalog
    /// The rules for the client; `nil` for none.
    let ruleGuard: RuleAccessPolicy?
    let call: CommandCall
    /// Whether only what cannot be rolled back is read; a write is judged by the newest documents.
    var readsCommitted = true

    /// The largest number of collections that a command may read, with those of its views.
    private static let collectionsMax = 1_000

    /// The part of a command that holds documents, in its errors.
    static let memoryPart = "the documents that the command needs"

    /// Reads what a write needs in its excerpt.
    ///
    /// - Throws: the upstream's errors; 292 when the documents do not fit into the memory of a
    ///   command.
    func parts(_ needs: WriteNeeds) throws -> [CollectionPart] {
        let memory = MemoryHolding.begin(Self.memoryPart)
        // In the order of names, so that each run asks the upstream for the same.
        return try definitions(of: needs.collections.keys.sorted(), withIndexes: needs.needsIndexes)
            .map { part in
                var part = part
                if let definition = part.definition, definition.viewOn == nil,
                    let need = needs.collections[part.namespace]
                {
                    part.documents = try documents(
                        for: need, in: part.namespace, definition, memory)
                }
                return part
            }
    }

    /// Reads the definitions of collections, and of those that views among them read; the views come
    /// last.
    ///
    /// - Throws: the upstream's errors; 165 for too many.
    func definitions(of namespaces: [Namespace], withIndexes: Bool) throws -> [CollectionPart] {
        var open = namespaces[...]
        var parts: [Namespace: CollectionPart] = [:]
        while let namespace = open.popFirst() {
            guard parts[namespace] == nil else { continue }
            guard parts.count < Self.collectionsMax else {
                throw CommandFailure(
                    165, "a command reads more than \(Self.collectionsMax) collections and views")
            }
            let definition = try definition(namespace, withIndexes: withIndexes)
            parts[namespace] = CollectionPart(namespace: namespace, definition: definition)
            guard let definition, let source = definition.viewOn else { continue }
            let read = PipelineCollections.read(by: BSONArray(definition.pipeline))
            open += ([source] + read).map { Namespace(namespace.database, $0) }
        }
        return parts.values.sorted { one, other in
            let (isView, otherIsView) = (
                one.definition?.viewOn != nil, other.definition?.viewOn != nil
            )
            return isView == otherIsView ? one.namespace < other.namespace : !isView
        }
    }

    /// Returns a collection's definition; `nil` if the collection does not exist.
    func definition(
        _ namespace: Namespace, withIndexes: Bool = false
    ) throws -> UpstreamCollection? {
        let known = try catalog.definition(namespace, withIndexes: withIndexes, link, for: call)
        // A client's transaction may have created the collection, which the catalogue does not show.
        return known ?? (link.session == nil ? nil : UpstreamCollection(entry: [:], indexes: nil))
    }

    /// Reads the documents that a client's query can match for the user, and perhaps more: those of
    /// certain ids whatever else the query says, since they are few.
    ///
    /// - Throws: as ``parts(_:)`` does.
    func candidates(
        of query: ClientQuery, in namespace: Namespace, _ definition: UpstreamCollection,
        _ memory: MemoryHolding?
    ) throws -> [BSONDocument] {
        let access = ruleGuard?.access(namespace)
        guard access?.isNever != true else { return [] }
        var found = UpstreamDocuments(memory: memory)
        if let ids = query.ids {
            try addDocuments(withIDs: ids, in: namespace, isOrdered: ids.count > 1, to: &found)
        } else {
            try addCandidates(of: query, access, in: namespace, definition, to: &found)
        }
        return found.documents()
    }

    /// Reads the documents of one collection that a write needs.
    private func documents(
        for need: DocumentNeed, in namespace: Namespace, _ definition: UpstreamCollection,
        _ memory: MemoryHolding?
    ) throws -> [BSONDocument] {
        let access = ruleGuard?.access(namespace)
        guard access?.isNever != true else { return [] }
        let queryCount = need.queries.count + need.conflicts.count
        var found = UpstreamDocuments(
            memory: memory, mayRepeat: queryCount + (need.ids.isEmpty ? 0 : 1) > 1)
        // Where other documents are read, too, one without a place would leave all unordered.
        let isOrdered = need.ids.count > 1 || queryCount > 0
        try addDocuments(withIDs: need.ids, in: namespace, isOrdered: isOrdered, to: &found)
        for query in need.queries {
            try addCandidates(of: query, access, in: namespace, definition, to: &found)
        }
        for filter in need.conflicts {
            try unnamed {
                try addCandidates(
                    of: ClientQuery(filter: filter), nil, in: namespace, definition, to: &found)
            }
        }
        return found.documents()
    }

    /// Reads the documents of ids, also those that the user does not see.
    ///
    /// - Parameter isOrdered: whether their places in the order of insertion are needed.
    private func addDocuments(
        withIDs ids: [BSONValue], in namespace: Namespace, isOrdered: Bool,
        to found: inout UpstreamDocuments
    ) throws {
        var seen: Set<[UInt8]> = []
        let distinct = ids.filter { seen.insert(BSONKey.encode($0)).inserted }
        for ids in distinct.chunks(of: 1_000) {
            let condition: BSONValue =
                if ids.count == 1, let id = ids.first {
                    Filter.soleID(["_id": id]) ?? ["$eq": id]
                } else {
                    ["$in": .array(BSONArray(ids))]
                }
            var query = UpstreamQuery(filter: ["_id": condition])
            query.isSmall = ids.count <= UpstreamQuery.smallMax
            query.showsRecordIDs = isOrdered
            query.isCommitted = readsCommitted
            try unnamed { try link.find(namespace, query, for: call) { try found.add($0) } }
        }
    }

    /// Reads the documents that a query can match.
    ///
    /// - Parameter access: what the rules allow; `nil` to read hidden documents, too.
    private func addCandidates(
        of query: ClientQuery, _ access: RuleAccess?, in namespace: Namespace,
        _ definition: UpstreamCollection, to found: inout UpstreamDocuments
    ) throws {
        guard var upstream = VisibleQuery(query, access, definition).upstream else { return }
        upstream.isCommitted = readsCommitted
        if upstream.limit > 0 { found.isSorted = true }
        try link.find(namespace, upstream, for: call) { try found.add($0) }
    }

    /// Calls a body that reads documents which the user may not see.
    ///
    /// - Throws: its errors, without the name of a document that cannot be read.
    private func unnamed(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let fault as CommandFailure where fault.code == UpstreamStream.tooDeep {
            guard ruleGuard != nil else { throw fault }
            throw CommandFailure(
                fault.code, "a document that is in the way of this command cannot be read")
        }
    }

    /// Returns how many documents a query finds, by a count of the upstream; `nil` if only the
    /// documents tell.
    ///
    /// - Parameter limit: the number after which to stop counting; 0 for no limit.
    func count(
        _ query: ClientQuery, in namespace: Namespace, _ definition: UpstreamCollection, limit: Int
    ) throws -> Int? {
        let visible = VisibleQuery(query, ruleGuard?.access(namespace), definition)
        guard var upstream = visible.upstream else { return 0 }
        guard visible.isExact else { return nil }
        upstream.isCommitted = readsCommitted
        return try link.count(namespace, upstream, limit: limit, for: call)
    }
}

/// The documents of one collection that the upstream sent, for one or several queries.
private struct UpstreamDocuments {
    /// A document with its place in the order of insertion.
    private struct Found {
        let document: BSONDocument
        let record: Int64?

        private static let field = "$recordId"

        init(_ shown: BSONDocument) {
            record = shown[Self.field]?.int64Value
            guard shown.contains(key: Self.field) else {
                document = shown
                return
            }
            var document = shown
            document.removeValue(forKey: Self.field)
            self.document = document
        }
    }

    let memory: MemoryHolding?
    /// Whether several queries may find the same document, of which only the first is kept.
    let mayRepeat: Bool
    /// Whether the upstream sorted a result.
    var isSorted = false
    private var all: [Found] = []
    private var keys: Set<[UInt8]> = []

    init(memory: MemoryHolding?, mayRepeat: Bool = false) {
        self.memory = memory
        self.mayRepeat = mayRepeat
    }

    /// Adds a document as the upstream sent it.
    ///
    /// - Throws: 292 when the documents do not fit into the memory of a command.
    mutating func add(_ document: BSONDocument) throws {
        if mayRepeat, !keys.insert(BSONKey.encode(document["_id"] ?? .null)).inserted { return }
        try memory?.add(document.byteCount + 64)
        all.append(Found(document))
    }

    /// Returns the documents: in the order of insertion if it is known and the upstream did not sort.
    func documents() -> [BSONDocument] {
        guard !isSorted, all.allSatisfy({ $0.record != nil }) else { return all.map(\.document) }
        // Not the order of the index that the upstream chose: it could depend on hidden documents.
        return all.sorted { ($0.record ?? 0) < ($1.record ?? 0) }.map(\.document)
    }
}

extension Array {
    /// Returns the elements in slices of at most a number.
    func chunks(of count: Int) -> [ArraySlice<Element>] {
        stride(from: 0, to: self.count, by: count).map {
            self[$0..<Swift.min(self.count, $0 + count)]
        }
    }
}
