import BSONStore
import StitchSync

/// Runs one schedule with one fault over the real engine, heals, and says what was violated.
final class ScopeRun: Sendable {
    static let namespace = Namespace("app", "items")
    static let key: BSONValue = "k"

    struct Client: Sendable {
        let name: ScopeAction.Actor
        let store: DocumentStore
        var engine: SyncEngine
    }

    let stores: ScopeStores
    let remoteStore: DocumentStore
    /// Where the remote's history stood when the run began.
    let start: Int64
    let remote: ScopeRemote
    let faults: ScopeFaults
    let policy: ScopePolicy
    let clients = Locked<[ScopeAction.Actor: Client]>([:])
    let ledger: ScopeLedger
    let tokens = Locked(0)
    /// An action of the schedule found nothing to do.
    let isIdle = Locked(false)
    /// Who is in a pass.
    let syncing = Locked<Set<ScopeAction.Actor>>([])

    init(on stores: ScopeStores, policy: ScopePolicy, fault: ScopeFault?) throws {
        self.stores = stores
        self.policy = policy
        faults = ScopeFaults(fault)
        remoteStore = stores.remote
        try stores.empty()
        start = try remoteStore.changePosition
        remote = ScopeRemote(InProcessRemote(store: remoteStore, commitsOnCallingThread: true))
        ledger = ScopeLedger()
    }

    /// What a run came to.
    struct Outcome {
        var violations: [String] = []
        /// How many points there were at which a fault may strike.
        var steps = 0
        var calls = 0
        /// An action found nothing to do: the schedule without it is the same.
        var hasIdleAction = false
        /// A handler was asked; without that, every policy gives the same run.
        var wasAsked = false
    }

    /// Runs a schedule and checks what came of it.
    func run(_ start: ScopeStart, _ schedule: [ScopeAction]) async throws -> Outcome {
        defer { letGo() }
        try await setUp(start)
        hookRemote()
        for action in schedule { try await act(action) }
        var outcome = Outcome()
        (outcome.steps, outcome.calls) = faults.counts
        outcome.hasIdleAction = isIdle.withLock { $0 }
        faults.heal()
        try await settle(rounds: 4)
        outcome.violations = try await check()
        for actor in [ScopeAction.Actor.a, .b] {
            try await client(actor).engine.forceScan(Self.namespace)
        }
        try await settle(rounds: 2)
        outcome.violations += try await check().map { "\($0) after a full scan" }
        outcome.violations += try ledger.violations(remoteHistory())
        outcome.wasAsked = ledger.wasAsked
        return outcome
    }

    /// Ends the cycle of the remote's scripts and the engines' handlers with this run.
    private func letGo() {
        remote.unhook()
        clients.withLock { $0 = [:] }
    }

    func client(_ actor: ScopeAction.Actor) throws -> Client {
        guard let client = clients.withLock({ $0[actor] }) else { throw Killed() }
        return client
    }

    private func setUp(_ start: ScopeStart) async throws {
        if start != .absent {
            try await remoteStore.write { transaction in
                var document: BSONDocument = ["_id": Self.key, "a": "0", "b": "0"]
                if start == .synced {
                    let version = DocumentVersion.first(
                        operation: OperationID(instance: 99, sequence: 1))
                    document.append(DocumentVersion.fieldName, .document(version.document))
                }
                try transaction.insert(Self.namespace, document)
            }
        }
        for (actor, instance) in [(ScopeAction.Actor.a, UInt64(1)), (.b, 2)] {
            let store = actor == .a ? stores.a : stores.b
            let engine = try await makeEngine(
                actor, store, instance,
                EngineProbe(commitsOnCallingThread: true, answerArriving: { _ in 0 }))
            clients.withLock { $0[actor] = Client(name: actor, store: store, engine: engine) }
            let items = engine.collection(Self.namespace)
            if start != .absent { try await items.sync(ids: [Self.key]) }
            if start == .synced { try await engine.syncNow() }
            try await restart(actor)
        }
    }

    private func makeEngine(
        _ actor: ScopeAction.Actor, _ store: DocumentStore, _ instance: UInt64,
        _ probe: EngineProbe
    ) async throws -> SyncEngine {
        var limits = SyncLimits()
        limits.requestTimeout = nil
        let engine = try SyncEngine(
            store: store, remote: remote, limits: limits, backoff: Backoff(),
            clock: ContinuousClock(), probe: probe, freshInstance: instance)
        let (ledger, policy) = (ledger, policy)
        await engine.collection(Self.namespace).configure(
            conflictHandler: ConflictHandler { conflict in
                ledger.note(actor, conflict)
                return policy.answer(conflict)
            })
        return engine
    }

    /// Starts a client anew over its store, as after a kill.
    private func restart(_ actor: ScopeAction.Actor) async throws {
        let store = try client(actor).store
        let engine = try await makeEngine(actor, store, 0, faults.probe)
        clients.withLock { $0[actor]?.engine = engine }
    }

    private func settle(rounds: Int) async throws {
        for _ in 0..<rounds {
            for actor in [ScopeAction.Actor.a, .b] { try await sync(client(actor)) }
        }
    }

    /// Invariants I2 and L1 when all is quiet.
    private func check() async throws -> [String] {
        let remote = try remoteStore.read { try $0.get(Self.namespace, id: Self.key) }?
            .bare
        var violations: [String] = []
        for actor in [ScopeAction.Actor.a, .b] {
            let items = try client(actor).engine.collection(Self.namespace)
            let status = try await items.status()
            if status.pending > 0 || status.toLook > 0 {
                violations.append("L1 \(actor) not quiet")
            }
            if status.paused > 0 { violations.append("L1 \(actor) paused") }
            guard status.synced > 0 else { continue }
            if !isEqual(try items.findOne(id: Self.key), remote) {
                violations.append("I2 \(actor) diverged")
            }
        }
        return violations
    }

    private func remoteHistory() throws -> [StoreChange] {
        try remoteStore.changes(after: start, in: Self.namespace, limit: 10_000).changes
    }
}

// MARK: - Actions

extension ScopeRun {
    func act(_ action: ScopeAction) async throws {
        switch action.actor {
        case .foreign: try foreign(action.verb)
        case .a, .b:
            do {
                try await perform(action)
            } catch is Killed {
                try await restart(action.actor)
            }
        }
    }

    private func perform(_ action: ScopeAction) async throws {
        let client = try client(action.actor)
        let items = client.engine.collection(Self.namespace)
        if action.verb == .sync {
            try await sync(client)
            return
        }
        let current = try items.findOne(id: Self.key)
        let token = tokens.withLock { tokens in
            tokens += 1
            return "\(action.actor.rawValue)\(tokens)"
        }
        let entry = ledger.begin(action, token)
        switch action.verb {
        case .insert:
            guard current == nil else { return noteIdle() }
            try await items.insertOne(
                ["_id": Self.key, "a": .string(token), "b": .string(token)])
        case .setA, .setB:
            guard current != nil else { return noteIdle() }
            try await items.updateOne(
                ["_id": Self.key], ["$set": [action.verb.rawValue: .string(token)]])
        case .same:
            guard let value = current?["a"] else { return noteIdle() }
            try await items.updateOne(["_id": Self.key], ["$set": ["a": value]])
            return
        case .delete:
            guard current != nil else { return noteIdle() }
            try await items.deleteOne(["_id": Self.key])
        case .sync, .unbumped, .unset, .raise, .remove, .replace: return
        }
        ledger.acknowledge(entry)
    }

    private func noteIdle() { isIdle.withLock { $0 = true } }

    private func sync(_ client: Client) async throws {
        syncing.withLock { _ = $0.insert(client.name) }
        defer { syncing.withLock { _ = $0.remove(client.name) } }
        try await client.engine.syncNow()
    }

    private func foreign(_ verb: ScopeAction.Verb) throws {
        let token = tokens.withLock { tokens in
            tokens += 1
            return BSONValue.string("F\(tokens)")
        }
        try remoteStore.write { transaction in
            let current = try transaction.get(Self.namespace, id: Self.key)
            if verb == .remove { _ = try transaction.remove(Self.namespace, id: Self.key) }
            if verb == .replace {
                try transaction.put(Self.namespace, ["_id": Self.key, "a": token, "b": token])
            }
            guard var document = current else {
                if verb != .replace { noteIdle() }
                return
            }
            document["a"] = token
            switch verb {
            case .unbumped: break
            case .unset: document[DocumentVersion.fieldName] = nil
            case .raise:
                let field = DocumentVersion.fieldName
                if let counter = document[path: field + ".v"]?.int64Value {
                    try document.set(path: field + ".v", to: .int64(counter + 1))
                }
            default: return
            }
            try transaction.put(Self.namespace, document)
        }
    }

    /// Loses requests and answers, and lets others act in the middle.
    private func hookRemote() {
        remote.hook(
            before: { [self] call in
                try await ledger.note(call.writes, clients.withLock { $0 })
                let index = faults.nextCall()
                try await interrupt(index, afterwards: false)
                if faults.strikes({ $0 == .lostRequest(index) }) {
                    throw RemoteError(.retryable, "the request is lost")
                }
            },
            after: { [self] call in
                let index = faults.counts.calls
                if call.isLook { ledger.noteLook(at: try remoteStore.changePosition) }
                if faults.strikes({ $0 == .lostAnswer(index) }) {
                    throw RemoteError(.retryable, "the answer is lost")
                }
                try await interrupt(index, afterwards: true)
            })
    }

    private func interrupt(_ index: Int, afterwards: Bool) async throws {
        let fault = faults.state.withLock { $0.fault }
        guard case .interrupt(index, let action, afterwards) = fault else { return }
        faults.heal()
        // A pass that waits for another of the same client would wait for itself.
        if action.verb == .sync && syncing.withLock({ $0.contains(action.actor) }) { return }
        try await act(action)
    }
}

/// The stores of a run, used by many runs one after the other.
final class ScopeStores: Sendable {
    let remote: DocumentStore
    let a: DocumentStore
    let b: DocumentStore

    init() throws {
        remote = try DocumentStore(
            at: .inMemory, options: .init(changeHistory: .keep(changesMax: 10_000)))
        a = try DocumentStore(at: .inMemory)
        b = try DocumentStore(at: .inMemory)
    }

    /// Takes everything out that a run left.
    func empty() throws {
        for store in [remote, a, b] {
            try store.write { transaction in
                transaction.isEngineWrite = true
                _ = try transaction.remove(ScopeRun.namespace, id: ScopeRun.key)
                let connection = transaction.connection
                let hasTables = try connection.int64(
                    "SELECT 1 FROM sqlite_master WHERE name = 'sync_instance'")
                guard hasTables != nil else { return }
                for table in ["instance", "collections", "documents", "events"] {
                    try connection.execute("DELETE FROM sync_\(table)")
                }
            }
        }
    }
}
