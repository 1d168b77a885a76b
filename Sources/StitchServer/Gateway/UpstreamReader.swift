internal import BSONStore
internal import StitchRules

/// The reader of what a command needs from the upstream.
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
    /// The largest number of ids that are read without a session.
    private static let smallMax = 100

    /// The part of a command that holds documents, in its errors.
    static let memoryPart = "the documents that the command needs"

    /// Reads the documents, and the definitions of their collections.
    ///
    /// - Throws: the upstream's errors; 292 when the documents do not fit into the memory of a
    ///   command.
    func parts(_ needs: CommandNeeds) throws -> [CollectionPart] {
        let memory = MemoryHolding.begin(Self.memoryPart)
        // In the order of names, so that each run asks the upstream for the same.
        return try definitions(of: needs.needs.keys.sorted(), withIndexes: needs.needsIndexes)
            .map { part in
                var part = part
                if let definition = part.definition, definition.viewOn == nil,
                    let need = needs.needs[part.namespace]
                {
                    part.documents = try documents(need, definition, memory)
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

    /// Reads the documents that are needed of a collection.
    ///
    /// - Throws: as ``parts(_:)`` does.
    func documents(
        _ need: DocumentNeed, _ definition: UpstreamCollection, _ memory: MemoryHolding?
    ) throws -> [BSONDocument] {
        let access = ruleGuard?.access(need.namespace)
        guard access?.isNever != true else { return [] }
        var found: [Found] = []
        var keys: Set<[UInt8]> = []
        let isSeveral = need.queries.count + (need.ids.isEmpty ? 0 : 1) > 1
        func add(_ document: BSONDocument) throws {
            if isSeveral, !keys.insert(BSONKey.encode(document["_id"] ?? .null)).inserted {
                return
            }
            try memory?.add(document.byteCount + 64)
            found.append(Found(document))
        }
        var seen: Set<[UInt8]> = []
        let distinct = need.ids.filter { seen.insert(BSONKey.encode($0)).inserted }
        for ids in distinct.parts(of: 1_000) {
            let condition: BSONValue =
                if ids.count == 1, let id = ids.first {
                    Filter.soleID(["_id": id]) ?? ["$eq": id]
                } else {
                    ["$in": .array(BSONArray(ids))]
                }
            var query = UpstreamQuery(filter: ["_id": condition])
            query.isSmall = ids.count <= Self.smallMax
            // Where other documents are read, too, one without a place would leave all unordered.
            query.showsRecordIDs = need.ids.count > 1 || !need.queries.isEmpty
            query.isCommitted = readsCommitted
            try unnamed { try link.find(need.namespace, query, for: call, add) }
        }
        var isOrdered = false
        for wanted in need.queries {
            let limits = wanted.includesHidden ? nil : access
            guard let query = query(wanted, limits, definition) else { continue }
            isOrdered = isOrdered || query.limit > 0
            if wanted.includesHidden {
                try unnamed { try link.find(need.namespace, query, for: call, add) }
            } else {
                try link.find(need.namespace, query, for: call, add)
            }
        }
        // Not the order of the index that the upstream chose: it could depend on hidden documents.
        if !isOrdered, found.allSatisfy({ $0.record != nil }) {
            found.sort { ($0.record ?? 0) < ($1.record ?? 0) }
        }
        return found.map(\.document)
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

    private func query(
        _ wanted: DocumentNeed.Query, _ access: RuleAccess?, _ definition: UpstreamCollection
    ) -> UpstreamQuery? {
        guard let (candidates, isExact) = candidates(wanted, access, definition) else { return nil }
        var query = candidates
        query.showsRecordIDs = true
        // Without a sort, the first documents are those that were inserted first, which the upstream
        // would have to look for among all.
        guard isExact, wanted.limit > 0, let sort = wanted.sort, !sort.isEmpty,
            sort.allSatisfy({ $0.value.documentValue == nil })
        else { return query }
        query.sort = sort
        query.limit = wanted.limit
        query.isSmall = wanted.limit <= Self.smallMax
        return query
    }

    /// Returns the query for all documents that a client's query can match, and whether they are
    /// just those that it matches, with nothing hidden in them; `nil` if the user sees none.
    private func candidates(
        _ wanted: DocumentNeed.Query, _ access: RuleAccess?, _ definition: UpstreamCollection
    ) -> (query: UpstreamQuery, isExact: Bool)? {
        // An empty collation names none.
        let asked = wanted.collation.flatMap { $0.isEmpty ? nil : $0 }
        let isCollated =
            asked.map { $0["locale"]?.stringValue != "simple" } ?? definition.hasCollation
        let staysHere =
            wanted.variables.map { CandidateFilter.stays(.document($0), access) } ?? false
        let candidates = CandidateFilter(
            staysHere ? [:] : wanted.filter, access, hasCollation: isCollated)
        guard let filter = candidates.filter else { return nil }
        var query = UpstreamQuery(filter: filter)
        if isCollated, candidates.usesCollation {
            query.collation = asked
        } else if isCollated || definition.hasCollation {
            // Else the collection's own collation would hold, also for the filter of the rules.
            query.collation = ["locale": "simple"]
        }
        if !staysHere { query.variables = wanted.variables }
        query.isCommitted = readsCommitted
        let isExact =
            candidates.isExact && !staysHere && access?.hidesFields != true
            && (!isCollated || candidates.usesCollation)
        return (query, isExact)
    }

    /// Returns how many documents a query finds, by a count of the upstream; `nil` if only the
    /// documents tell.
    ///
    /// - Parameter limit: the number after which to stop counting; 0 for no limit.
    func count(
        _ wanted: DocumentNeed.Query, in namespace: Namespace, _ definition: UpstreamCollection,
        limit: Int
    ) throws -> Int? {
        guard
            let (query, isExact) = candidates(wanted, ruleGuard?.access(namespace), definition)
        else { return 0 }
        return isExact ? try link.count(namespace, query, limit: limit, for: call) : nil
    }
}

extension Array {
    /// Returns the elements in parts of at most a number.
    func parts(of count: Int) -> [ArraySlice<Element>] {
        stride(from: 0, to: self.count, by: count).map {
            self[$0..<Swift.min(self.count, $0 + count)]
        }
    }
}
