#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import BSONStore
import StitchSync

/// Clients, their remote, and what happens between them, as a seed says.
actor SimulationWorld {
    static let namespaces = [Namespace("app", "items"), Namespace("app", "notes")]
    /// A collection that no client may read.
    static let unreadable = Namespace("app", "secrets")
    /// A field by which no client may ask for documents.
    static let refusedField = "refused"

    let plan: SimulationPlan
    nonisolated let dice: SimulationDice
    nonisolated let clock = SimulationClock()
    nonisolated let ledger = Locked(SimulationLedger())
    let remoteStore: DocumentStore
    /// Another, empty remote, which a client meets at times under the same name.
    let otherStore: DocumentStore
    /// The remote as it was a while ago, which a client meets at times as if it had been put back.
    var earlierStore: DocumentStore?
    let folder: String
    var clients: [SimulationClient] = []
    /// Requests that are still on their way.
    private var late: [(remote: any RemoteCollection, write: RemoteWrite)] = []
    private var historyFloor: Int64 = 0
    private var starts = 0
    private var tokens = 0
    private var files = 0
    private var depth = 0
    /// How many requests until the pass under way is cancelled.
    private var requestsUntilCancel: Int?

    init(_ plan: SimulationPlan, folder: String, isTold: Bool) throws {
        self.plan = plan
        self.folder = folder
        dice = SimulationDice(plan, isTold: isTold)
        let options = DocumentStore.Options(changeHistory: .keep(changesMax: 100_000))
        remoteStore = try DocumentStore(at: .inMemory, options: options)
        otherStore = try DocumentStore(at: .inMemory, options: options)
    }

    /// A value that was never written before.
    func token(_ name: String) -> String {
        tokens += 1
        return "\(name)-\(tokens)"
    }

    nonisolated func namespaceIndex(_ document: Int) -> Int {
        plan.hasTwoCollections ? document % 2 : 0
    }

    nonisolated func namespace(_ document: Int) -> Namespace {
        Self.namespaces[namespaceIndex(document)]
    }

    /// Ids of several types.
    nonisolated func id(_ document: Int) -> BSONValue {
        switch document % 3 {
        case 0: .string("k\(document)")
        case 1: .int32(Int32(document))
        default: .document(["k": .int64(Int64(document))])
        }
    }

    nonisolated func document(_ namespace: Namespace, _ id: BSONValue) -> Int? {
        (0..<plan.documents).first { self.namespace($0) == namespace && self.id($0) == id }
    }

    nonisolated func fail(_ violation: String) {
        dice.note("    VIOLATION \(violation)")
        ledger.withLock { $0.fail(violation) }
    }

    /// A name for one more file.
    func newFile(_ kind: String) -> String {
        files += 1
        return "\(folder)/\(files).\(kind)"
    }

    nonisolated func local(_ client: SimulationClient, _ document: Int) throws -> BSONDocument? {
        try client.store.read { try $0.get(namespace(document), id: id(document)) }
    }
}

// MARK: - Clients

extension SimulationWorld {
    /// Sets the remote and its clients up.
    func setUp() async throws {
        if plan.startsWithDocuments {
            for document in 0..<plan.documents { try foreign(document, .whole) }
        }
        for handler in plan.handlers { try await addClient(handler, DocumentStore(at: .inMemory)) }
        if let views = plan.firstViews {
            for client in clients.indices { try await subscribe(client, views) }
            return
        }
        guard plan.startsWithDocuments else { return }
        for client in clients.indices {
            for document in 0..<plan.documents {
                try await items(client, document).sync(ids: [id(document)])
            }
        }
    }

    func items(_ client: Int, _ document: Int) -> SyncCollection<BSONDocument> {
        clients[client].engine.collection(namespace(document))
    }

    private func addClient(_ handler: SimulationPlan.Handler, _ store: DocumentStore) async throws {
        let (engine, life) = try makeEngine(clients.count, store)
        clients.append(
            SimulationClient(store: store, engine: engine, life: life, handler: handler))
        try await configure(clients.count - 1)
    }

    private func makeEngine(
        _ client: Int, _ store: DocumentStore
    ) throws -> (SyncEngine, SimulationLife) {
        let life = SimulationLife(dice)
        starts += 1
        let instance = UInt64(starts)
        ledger.withLock { $0.owners[instance] = client }
        let remote = SimulationRemote(
            world: self, client: client, life: life,
            base: InProcessRemote(store: remoteStore, commitsOnCallingThread: true))
        var limits = SyncLimits()
        (limits.batchDocuments, limits.batchBytes) = (plan.batchDocuments, plan.batchBytes)
        limits.changesPerRead = plan.changesPerRead
        limits.failuresMax = 3
        // A request of its own task could not be told from the pass by what cancels it.
        limits.requestTimeout = nil
        let probe = EngineProbe(
            commitsOnCallingThread: true,
            answerArriving: { [dice] count in count > 1 ? dice.draw { $0.below(count) } : 0 },
            beforeCommit: life.beforeCommit, afterCommit: life.afterCommit)
        let engine = try SyncEngine(
            store: store, remote: remote, limits: limits, backoff: Backoff(), clock: clock,
            probe: probe, freshInstance: instance)
        return (engine, life)
    }

    private func configure(_ number: Int) async throws {
        let client = clients[number]
        clients[number].listeners = []
        for index in 0..<(plan.hasTwoCollections ? 2 : 1) {
            let collection = client.engine.collection(Self.namespaces[index])
            let handler = SimulationHandler(world: self, client: number, kind: client.handler)
            let refusals = SimulationRejectionHandler(
                world: self, client: number,
                kind: number < plan.rejections.count ? plan.rejections[number] : .standard)
            await collection.configure(
                conflictHandler: handler.handler, rejectionPolicy: refusals.policy)
            clients[number].listeners.append(collection.events.makeAsyncIterator())
        }
    }

    /// Starts a client's process anew over its store; all that was in memory is gone.
    func restart(_ number: Int) async throws {
        dice.note("    c\(number) starts anew")
        clients[number].life.end()
        clients[number].listeners = []
        let (engine, life) = try makeEngine(number, clients[number].store)
        clients[number].engine = engine
        clients[number].life = life
        ledger.withLock { $0.forgetQuestions(number) }
        try await configure(number)
    }

    /// Puts a copy of a store in a client's place, or makes a new client of it.
    func adopt(_ path: String, by number: Int?) async throws {
        let copy = newFile("store")
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        let store = try DocumentStore(at: .file(copy), options: .init(durability: .normal))
        guard let number else {
            try await addClient(.remoteWins, store)
            return try learn(clients.count - 1)
        }
        clients[number].store = store
        clients[number].lost = clients[number].lostInBackup
        ledger.withLock { ledger in
            // It is another installation now: what it wrote after the copy was made comes back as
            // plain remote changes (rule R12).
            for (instance, owner) in ledger.owners where owner == number {
                ledger.owners[instance] = -1
            }
            ledger.forget(number)
        }
        try await restart(number)
        try learn(number)
    }

    /// A copy of a client's store at this moment.
    func backUp(_ number: Int) throws {
        let path = newFile("backup")
        try clients[number].store.backup(to: path)
        clients[number].backup = path
        clients[number].lostInBackup = clients[number].lost
    }

    /// Takes the documents as they are for what the events told so far.
    private func learn(_ number: Int) throws {
        for document in 0..<plan.documents {
            clients[number].told[document] = try local(clients[number], document)
        }
        for index in Self.namespaces.indices {
            let events = try clients[number].engine.storedEvents(
                after: 0, in: Self.namespaces[index], limit: 100_000)
            clients[number].lastEvent[index] = events.last?.sequence ?? 0
        }
    }
}

// MARK: - Requests

extension SimulationWorld {
    func isReachable(_ client: Int) -> Bool { dice.isQuiet || !clients[client].isCutOff }

    func hasLooked(_ client: Int) -> Bool { clients[client].hasLooked }

    func isKept(_ token: ResumeToken) -> Bool {
        (token.document["position"]?.int64Value ?? 0) >= historyFloor
    }

    /// A place in the history a little before another.
    func earlier(_ token: ResumeToken) -> ResumeToken {
        let position = token.document["position"]?.int64Value ?? 0
        let back = dice.draw { Int64($0.below(5)) }
        return ResumeToken(["position": .int64(max(historyFloor, position - back, 0))])
    }

    func loseHistory() throws { historyFloor = try remoteStore.changePosition }

    /// Lets others act, or the app's task be cancelled, before a request leaves.
    func willRequest(_ client: Int) async {
        if let rest = requestsUntilCancel {
            requestsUntilCancel = rest - 1
            if rest == 0 { withUnsafeCurrentTask { $0?.cancel() } }
        }
        await landSome()
        await interrupt()
    }

    /// Lets others act before an answer arrives.
    func didRequest(_ client: Int) async { await interrupt() }

    func didLook(_ client: Int, _ namespace: Namespace, _ ids: [BSONValue]) {
        clients[client].hasLooked = true
        didPage(client, namespace, ids)
        let documents = ids.compactMap { document(namespace, $0) }
        ledger.withLock { $0.noteLookAfterSent(client, Set(documents)) }
    }

    /// What a page shows is seen, but it is no evidence.
    func didPage(_ client: Int, _ namespace: Namespace, _ ids: [BSONValue]) {
        drain()
        let documents = ids.compactMap { document(namespace, $0) }
        ledger.withLock { $0.noteLook(client, documents) }
    }

    /// What the history tells is seen as of then.
    func didTell(_ client: Int, _ namespace: Namespace, _ changes: [RemoteChange]) {
        drain()
        ledger.withLock { ledger in
            for change in changes {
                guard let edition = change.content,
                    let number = document(namespace, change.documentID)
                else { continue }
                ledger.noteTold(client, number, edition)
            }
        }
    }

    /// Notes writes with the base that their sender's store holds.
    func willWrite(_ client: Int, _ namespace: Namespace, _ writes: [RemoteWrite]) async {
        for write in writes {
            guard let document = document(namespace, write.documentID) else {
                fail("a write of no document that there is")
                continue
            }
            do {
                try checkMaySend(client, document, write)
                let base = try await clients[client].engine.collection(namespace)
                    .confirmedDocument(id: write.documentID)
                ledger.withLock { $0.noteSent(write, document, base: base) }
            } catch {
                fail("the base cannot be read: \(error)")
            }
        }
    }

    /// Takes in what happened at the remote.
    func drain() {
        do {
            let batch = try remoteStore.changes(
                after: ledger.withLock { $0.position }, limit: 100_000)
            ledger.withLock { ledger in
                ledger.take(batch) { document($0.namespace, $0.documentID) }
            }
        } catch {
            fail("the remote's history cannot be read: \(error)")
        }
    }

    private func interrupt() async {
        guard depth < 2, dice.strikes(.interleaved) else { return }
        let kind = dice.draw { random in
            SimulationPlan.interruption(
                &random, plan.documents, clients: clients.count)
        }
        dice.note("    meanwhile \(SimulationStep.text(kind))")
        await act(kind)
    }

    func keepLate(_ remote: any RemoteCollection, _ writes: [RemoteWrite]) {
        for write in writes { late.append((remote, write)) }
    }

    /// Lets one late request in three land now.
    private func landSome() async {
        guard !late.isEmpty, !dice.isQuiet else { return }
        let lands = dice.draw { random in late.map { _ in random.percent(30) } }
        await land(lands)
    }

    /// Lets late requests land; or lets them be lost for good.
    func landAll() async { await land(late.map { _ in true }) }

    private func land(_ lands: [Bool]) async {
        let landing = zip(late, lands).filter(\.1).map(\.0)
        late = zip(late, lands).filter { !$1 }.map(\.0)
        for (remote, write) in landing {
            dice.note("    late request lands: \(write.operation)")
            do throws(RemoteError) {
                _ = try await remote.write([write])
            } catch {
                fail("a late request fails: \(error)")
            }
        }
    }
}

// MARK: - Steps

extension SimulationWorld {
    /// Runs one step: at once, or in the middle of a request.
    func act(_ kind: SimulationStep.Kind) async {
        depth += 1
        defer { depth -= 1 }
        do {
            try await perform(kind)
        } catch is SimulationKill {
            dice.note("    killed")
        } catch let error as StoreError where error.code == .diskFull {
            dice.note("    \(error)")
            forgetQuestions()
        } catch is CancellationError {
            dice.note("    cancelled")
            forgetQuestions()
        } catch {
            fail("\(SimulationStep.text(kind)) threw \(error)")
        }
    }

    /// Answers that were not stored are asked for again.
    private func forgetQuestions() {
        ledger.withLock { ledger in
            for number in clients.indices { ledger.forgetQuestions(number) }
        }
    }

    /// Runs a pass of a client that is not in one.
    func pass(_ number: Int) async throws {
        guard !clients[number].isInPass, !clients[number].life.isOver else { return }
        let engine = clients[number].engine
        guard engine.isOnline else { return }
        clients[number].isInPass = true
        clients[number].hasLooked = false
        defer {
            clients[number].isInPass = false
            clients[number].elsewhere = nil
            ledger.withLock { $0.forgetUntold(number) }
        }
        try await loseRow(number)
        try await goElsewhere(number)
        let before = try locals(number)
        do {
            let report = try await pass(of: engine)
            try checkElsewhere(number, report, before)
        } catch {
            try checkElsewhere(number, nil, before)
            throw error
        }
    }

    /// Runs a pass, which the app may cancel; no report then.
    private func pass(of engine: SyncEngine) async throws -> SyncPassReport? {
        guard dice.strikes(.cancel) else { return try await engine.syncNow() }
        requestsUntilCancel = dice.draw { $0.below(8) }
        defer { requestsUntilCancel = nil }
        try await withThrowingTaskGroup { group in
            group.addTask { _ = try await engine.syncNow() }
            try await group.waitForAll()
        }
        return nil
    }

    /// Starts who was killed anew.
    func restartDead() async throws {
        for number in clients.indices where clients[number].life.isOver {
            try await restart(number)
        }
    }
}
