import BSONStore
import StitchSync

/// What apps and other writers do.
extension SimulationWorld {
    func perform(_ kind: SimulationStep.Kind) async throws {
        switch kind {
        case .write(let client, let document, let verb):
            try await write(client, document, verb)
        case .pass(let client): try await pass(client)
        case .foreign(let document, let verb): try foreign(document, verb)
        case .life(let client, let life): try await live(client, life)
        case .sync(let client, let document):
            guard isAlive(client) else { return }
            try await items(client, document).sync(ids: [id(document)])
        case .desync(let client, let document):
            try await giveUp(client, document) { try await $0.desync(ids: [$1]) }
        case .discard(let client, let document):
            try await giveUp(client, document) { try await $0.discardPendingChange(of: $1) }
        case .subscribe(let client, let views): try await subscribe(client, views)
        case .retryRejected(let client): try await retryRejected(client)
        case .discardRejected(let client): try await discardRejected(client)
        case .loseHistory: try loseHistory()
        case .landLate: await landAll()
        case .clockJump:
            clock.jump(by: .seconds(dice.draw { $0.below(631_138_520) - 315_569_260 }))
        }
    }

    func isAlive(_ client: Int) -> Bool { !clients[client].life.isOver }

    private func giveUp(
        _ client: Int, _ document: Int,
        _ body: (SyncCollection<BSONDocument>, BSONValue) async throws -> Void
    ) async throws {
        guard isAlive(client) else { return }
        noteAppKnows(client, document)
        let revision = try local(clients[client], document)
        let status = try await items(client, document).status(of: id(document))
        do {
            try await body(items(client, document), id(document))
        } catch {
            // A kill may come after the commit.
            let isCommitted = try await items(client, document).status(of: id(document)) != status
            if try isCommitted || !isEqual(local(clients[client], document), revision) {
                try await forget(client, document)
            }
            throw error
        }
        try await forget(client, document)
    }

    private func forget(_ client: Int, _ document: Int) async throws {
        let base = try await items(client, document).confirmedDocument(id: id(document))
        ledger.withLock { ledger in
            ledger.forget(client, document)
            if base == nil { ledger.disown(client, document) }
        }
    }

    private func live(_ number: Int, _ life: SimulationStep.Life) async throws {
        switch life {
        case .restart:
            if clients[number].isInPass { return }
            try await restart(number)
        case .cutOff: clients[number].isCutOff = true
        case .goOffline: clients[number].engine.setOnline(false)
        case .comeBack:
            clients[number].isCutOff = false
            clients[number].engine.setOnline(true)
        case .backUp: try backUp(number)
        case .restore:
            guard let backup = clients[number].backup else { return }
            try await adopt(backup, by: number)
        case .clone:
            guard clients.count < 6 else { return }
            try backUp(number)
            let lost = clients[number].lost
            if let backup = clients[number].backup { try await adopt(backup, by: nil) }
            clients[clients.count - 1].lost = lost
        case .resume: try await resume(number)
        case .scan:
            for document in 0..<plan.documents {
                try await clients[number].engine.forceScan(namespace(document))
            }
        }
    }

    /// Resumes all that a client has paused.
    func resume(_ number: Int) async throws {
        ledger.withLock { $0.forgetQuestions(number) }
        for document in 0..<plan.documents {
            guard
                case .paused(let reason) = try await items(number, document)
                    .status(of: id(document))
            else { continue }
            if reason.code == .localDocumentMissing { noteAppKnows(number, document) }
            try await items(number, document).resumeSync(of: id(document))
        }
    }
}

// MARK: - Local writes

extension SimulationWorld {
    /// Writes as an app does; what is on disk afterwards counts, also when the process was killed
    /// right after it.
    func write(_ client: Int, _ document: Int, _ verb: SimulationStep.Verb) async throws {
        guard isAlive(client), mayWrite(client) else { return }
        try hear(client)
        let current = try local(clients[client], document)
        if current != nil { clients[client].lost[document] = nil }
        let token = token("c\(client)")
        let items = items(client, document)
        if clients[client].handler == .wild,
            case .paused = try await items.status(of: id(document))
        {
            ledger.withLock { $0.forgetQuestions(client, document) }
        }
        let filter: BSONDocument = ["_id": id(document)]
        switch verb {
        case .setA, .setB, .setX, .setY:
            guard current != nil else { return }
            let path = Self.path(verb)
            try await change(client, document, [path: token]) {
                try await items.updateOne(filter, ["$set": [path: .string(token)]])
            }
        case .pipeline:
            guard current != nil else { return }
            try await change(client, document, ["b": token]) {
                try await items.find(filter).update(pipeline: [["$set": ["b": .string(token)]]])
            }
        case .upsert:
            try await change(client, document, ["a": token], isWhole: current == nil) {
                try await items.updateOne(
                    filter, ["$set": ["a": .string(token)]], upsert: true)
            }
        case .unsetB:
            guard current?["b"] != nil else { return }
            try await unset(client, document) {
                try await items.updateOne(filter, ["$unset": ["b": ""]])
            }
        case .same:
            guard let value = current?["a"] else { return }
            try await items.updateOne(filter, ["$set": ["a": value]])
        case .insert:
            guard current == nil else { return }
            try await change(client, document, Self.values(token), isWhole: true) {
                try await items.insertOne(content(document, token))
            }
        case .replace:
            guard current != nil else { return }
            try await change(client, document, Self.values(token), isWhole: true) {
                try await items.replaceOne(filter, content(document, token))
            }
        case .delete:
            guard current != nil else { return }
            try await delete(client, document) { try await items.deleteOne(filter) }
        }
    }

    private static func path(_ verb: SimulationStep.Verb) -> String {
        switch verb {
        case .setA, .upsert: "a"
        case .setX: "n.x"
        case .setY: "n.y"
        case .setB, .unsetB, .same, .insert, .replace, .delete, .pipeline: "b"
        }
    }

    private static func values(_ token: String) -> [String: String] {
        var values: [String: String] = [:]
        for path in SimulationLedger.paths { values[path] = token }
        return values
    }

    nonisolated func content(_ document: Int, _ token: String) -> BSONDocument {
        [
            "_id": id(document), "a": .string(token), "b": .string(token),
            "n": ["x": .string(token), "y": .string(token)],
        ]
    }

    private func change(
        _ client: Int, _ document: Int, _ values: [String: String], isWhole: Bool = false,
        _ body: () async throws -> some Any
    ) async throws {
        func note() throws -> Bool {
            let after = try local(clients[client], document)
            let isIn = values.allSatisfy { after?[path: $0.key] == .string($0.value) }
            guard isIn else { return false }
            clients[client].lost[document] = nil
            ledger.withLock { ledger in
                ledger.note(client, document, values: values, isWhole: isWhole)
            }
            return true
        }
        try await finish(body, note)
    }

    private func unset(
        _ client: Int, _ document: Int, _ body: () async throws -> some Any
    ) async throws {
        try await finish(body) {
            guard try local(clients[client], document)?["b"] == nil else { return false }
            ledger.withLock { $0.noteUnset(client, document, "b") }
            return true
        }
    }

    private func delete(
        _ client: Int, _ document: Int, _ body: () async throws -> some Any
    ) async throws {
        try await finish(body) {
            guard try local(clients[client], document) == nil else { return false }
            try await noteDeleted(client, document)
            return true
        }
    }

    /// Notes that the app deleted a document.
    func noteDeleted(_ client: Int, _ document: Int) async throws {
        drain()
        let status = try await items(client, document).status(of: id(document))
        let base = try await items(client, document).confirmedDocument(id: id(document))
        ledger.withLock { ledger in
            ledger.noteDelete(
                client, document, hasRecord: status != .notSynced, base: base)
        }
    }

    /// Runs a write; then, also where it failed, what the disk says of it.
    private func finish(
        _ body: () async throws -> some Any, _ note: () async throws -> Bool
    ) async throws {
        do {
            _ = try await body()
        } catch {
            _ = try await note()
            throw error
        }
        if try await !note() { fail("I1 acknowledged, but not on disk") }
    }
}

// MARK: - Foreign writers

extension SimulationWorld {
    /// Writes to the remote as a tool that does what the verb says with the version field.
    func foreign(_ document: Int, _ verb: SimulationStep.ForeignVerb) throws {
        let namespace = namespace(document)
        let id = id(document)
        let token = token("f")
        drain()
        let current = try remoteStore.read { try $0.get(namespace, id: id) }
        switch verb {
        case .remove:
            guard current != nil else { return }
            try remoteStore.write { _ = try $0.remove(namespace, id: id) }
        case .whole: try put(document, content(document, token))
        case .reinsert:
            guard let current else { return }
            var next = content(document, token)
            if dice.draw({ $0.percent(50) }), let version = current[DocumentVersion.fieldName] {
                next.append(DocumentVersion.fieldName, version)
            }
            try remoteStore.write { _ = try $0.remove(namespace, id: id) }
            try put(document, next)
        case .regress:
            let editions = ledger.withLock { $0.editions(document) }
            guard !editions.isEmpty else { return }
            ledger.withLock { ledger in
                for client in clients.indices { ledger.forgetQuestions(client) }
            }
            try put(document, dice.draw { $0.pick(editions) })
        case .unset, .keep, .raise, .raiseFar, .lower, .last, .malformed, .reorder, .otherLineage:
            guard var next = current else { return }
            edit(&next, verb, token)
            try put(document, next)
        }
    }

    private func put(_ document: Int, _ next: BSONDocument) throws {
        let namespace = namespace(document)
        try remoteStore.write { try $0.put(namespace, next) }
        drain()
    }

    private func edit(
        _ next: inout BSONDocument, _ verb: SimulationStep.ForeignVerb, _ token: String
    ) {
        let path = dice.draw { $0.pick(SimulationLedger.paths) }
        if verb != .reorder { next[path: path] = .string(token) }
        let field = DocumentVersion.fieldName
        let version = VersionField(of: next).version
        let counter = version?.counter ?? 0
        func set(_ counter: Int64) {
            if version != nil { next[path: field + ".v"] = .int64(counter) }
        }
        switch verb {
        case .unset: next.removeValue(forKey: field)
        case .raise: set(counter &+ 1)
        case .raiseFar: set(counter &+ 1000)
        case .lower: set(counter &- 1)
        case .last: set(.max)
        case .malformed: next[field] = dice.draw { $0.pick(Self.malformed) }
        case .otherLineage:
            next[field] = ["spv": 1, "id": .string(token), "v": 0]
        case .reorder:
            let pairs = next.map { ($0.key, $0.value) }.filter { $0.0 != "_id" }
            next = BSONDocument([("_id", next["_id"] ?? .null)] + pairs.reversed())
        case .keep, .remove, .reinsert, .whole, .regress: break
        }
    }

    /// Version fields that are none of ours.
    private static let malformed: [BSONValue] = [
        .null, "1", .document([:]), ["spv": 2, "id": "x", "v": 1], ["spv": 1, "v": 1],
        ["spv": "1", "id": "x", "v": 1], ["spv": 1, "id": "x", "v": 3.5],
        ["spv": 1, "id": 7, "v": 1], ["spv": 1, "id": "x"], .array([1]),
    ]

    /// Takes version fields that nobody understands away, as their writer would when asked to.
    func repairVersions() throws {
        for document in 0..<plan.documents {
            let namespace = namespace(document)
            let id = id(document)
            guard var current = try remoteStore.read({ try $0.get(namespace, id: id) }),
                case .foreign = VersionField(of: current)
            else { continue }
            current = current.bare
            try put(document, current)
        }
    }
}
