internal import BSONStore

/// A command on users: it runs on an excerpt with the users that it concerns, who are in the
/// upstream.
struct UserWrite {
    let backend: GatewayBackend
    let call: CommandCall
    let definition: CommandDefinition
    let concerned: ConcernedUsers

    /// The number of runs after which others are said to change the users too often.
    private static let runsMax = 10

    /// Runs the command and returns its outcome.
    ///
    /// - Throws: the command's errors, the upstream's errors, 112 (WriteConflict).
    func run() throws -> CommandOutcome {
        for _ in 0..<Self.runsMax {
            var part = CollectionPart(namespace: User.namespace, definition: nil)
            let link = backend.link.serving(call.connection)
            try link.find(
                GatewayDatabase.users, UpstreamQuery(filter: filter), for: call
            ) { part.documents.append($0) }
            let (outcome, changes) = try backend.excerpts.withExcerpt([part]) { excerpt in
                let store = excerpt.backend(backend.services, under: nil)
                let outcome = try definition.parse(call.alone, store).answer(store)
                return (outcome, try excerpt.changes())
            }
            let writer = UpstreamWriter(
                link: link, call: call, isConditional: true, hasCollation: { _ in false })
            if case .done = try writer.send(changes) {
                if !changes.isEmpty { backend.services.server.userGeneration.withLock { $0 += 1 } }
                return outcome
            }
        }
        throw CommandFailure(112, "other clients changed the users again and again; try again")
    }

    /// The users that the command concerns.
    private var filter: BSONDocument {
        let name = call.target.stringValue
        switch concerned {
        case .ofDatabase: return ["db": .string(call.database)]
        case .selected where name == nil: return [:]
        case .named, .selected:
            return ["_id": .string(User.id(name ?? "", call.database))]
        }
    }
}

/// A pipeline with `$merge`: it reads from the upstream, and merges into the target's documents in an
/// excerpt.
struct MergeNeeds {
    private let write: GatewayWrite
    private let stages: [BSONValue]
    private let merge: BSONValue
    /// The collection that it writes.
    let target: Namespace

    /// Reads a command; `nil` for one that has no target, which the command itself reports.
    init?(_ write: GatewayWrite) {
        let call = write.call
        stages = Array(call.array("pipeline") ?? [])
        guard let merge = stages.last?.documentValue?["$merge"] else { return nil }
        let into = merge.documentValue?["into"] ?? merge
        guard let name = into.stringValue ?? into.documentValue?["coll"]?.stringValue else {
            return nil
        }
        target = Namespace(into.documentValue?["db"]?.stringValue ?? call.database, name)
        (self.write, self.merge) = (write, merge)
    }

    /// Collects the needs.
    func needs() throws -> WriteNeeds {
        var needs = WriteNeeds()
        needs.addIndexes()
        for namespace in write.call.namedCollections + [target] { needs.add(namespace) }
        if write.call.namedCollections.dropFirst().contains(target) {
            needs.add(.all, in: target)
        } else if write.call.namedCollections.first == target {
            let conditions = stages.prefix { $0.documentValue?["$match"] != nil }
                .compactMap { $0.documentValue?["$match"] }
            needs.add(
                ClientQuery(
                    filter: conditions.isEmpty ? [:] : ["$and": .array(BSONArray(conditions))],
                    collation: write.call.document("collation"),
                    variables: write.call.document("let")),
                in: target)
        }
        guard merge.documentValue?["on"] == nil else {
            // Which documents are there decides about each result: all that may be are needed.
            needs.add(.all, in: target)
            return needs
        }
        needs.add(ids: try write.resultIDs(of: Array(stages.dropLast())), in: target)
        return needs
    }
}
