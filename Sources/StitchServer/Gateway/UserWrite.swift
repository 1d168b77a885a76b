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
            var part = ExcerptPart(namespace: User.namespace, definition: nil)
            let link = backend.link.serving(call.connection)
            try link.find(
                GatewayDatabase.users, UpstreamQuery(filter: filter), for: call
            ) { part.documents.append($0) }
            let (outcome, changes) = try backend.writing.withExcerpt([part]) { excerpt in
                let store = excerpt.backend(backend.front, under: nil)
                let outcome = try definition.parse(call.alone, store).answer(store)
                return (outcome, try excerpt.changes())
            }
            let writer = UpstreamWriter(
                link: link, call: call, isConditional: true, hasCollation: { _ in false })
            if case .done = try writer.send(changes) {
                if !changes.isEmpty { backend.front.server.userGeneration.withLock { $0 += 1 } }
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

/// What a pipeline with `$merge` needs: what it reads, and the documents into which it merges.
struct MergeNeeds {
    let write: GatewayWrite

    /// Collects the needs.
    func needs() throws -> CommandNeeds {
        var needs = try CommandNeeds(.pipeline, of: write.call)
        let stages = Array(write.call.array("pipeline") ?? [])
        guard let merge = stages.last?.documentValue?["$merge"] else { return needs }
        let into = merge.documentValue?["into"] ?? merge
        let target: Namespace
        if let name = into.stringValue {
            target = Namespace(write.call.database, name)
        } else if let place = into.documentValue, let name = place["coll"]?.stringValue {
            target = Namespace(place["db"]?.stringValue ?? write.call.database, name)
        } else {
            return needs
        }
        needs.addIndexes()
        guard merge.documentValue?["on"] == nil else {
            // Which documents are there decides about each result: all that may be are needed.
            needs.add(.all, in: target)
            return needs
        }
        needs.add(ids: try write.resultIDs(needs, of: Array(stages.dropLast())), in: target)
        needs.add(target)
        return needs
    }
}
