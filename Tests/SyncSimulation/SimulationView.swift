import BSONStore
import StitchSync

/// A query that a simulated client subscribes to; what clients and others write moves documents in
/// and out of it.
enum SimulationView: Int, Sendable, CaseIterable, CustomStringConvertible {
    case writtenByClients, writtenByOthers, hasB, xOfClients

    var description: String { "v\(rawValue)" }

    /// Values of apps begin with `c`, those of foreign writers and of handlers with letters behind it.
    var filter: BSONDocument {
        switch self {
        case .writtenByClients: ["a": ["$lt": "d"]]
        case .writtenByOthers: ["a": ["$gte": "d"]]
        case .hasB: ["b": ["$exists": true]]
        case .xOfClients: ["n.x": ["$lt": "d"]]
        }
    }
}

// MARK: - Steps

extension SimulationPlan {
    /// Whether clients subscribe, and refuse in several ways: two seeds of five, and half of the
    /// close quarters.
    ///
    /// All other seeds are the worlds that they were before there were subscriptions.
    static func hasSubscriptions(_ seed: UInt64) -> Bool {
        SimulationCloseQuarters(seed: seed, clients: 1)?.isSubscribed
            ?? (seed % 5 == 0 || seed % 5 == 2)
    }

    /// Puts steps that are about subscriptions and rejected writes between the others.
    mutating func addSubscriptions(_ random: inout SimulationRandom) {
        for number in 0..<(3 + random.below(8)) {
            let client = random.below(handlers.count)
            let kind: SimulationStep.Kind =
                switch random.below(10) {
                case 0: .retryRejected(client: client)
                case 1: .discardRejected(client: client)
                default: .subscribe(client: client, Self.views(&random))
                }
            steps.insert(
                SimulationStep(stream: UInt64(100_000 + number), kind: kind),
                at: random.below(steps.count + 1))
        }
    }

    static func views(_ random: inout SimulationRandom) -> [SimulationView] {
        SimulationView.allCases.filter { _ in random.percent(40) }
    }
}

// MARK: - Acts

extension SimulationWorld {
    /// Lets the next set of a client's subscriptions be these, in all collections.
    func subscribe(_ client: Int, _ views: [SimulationView]) async throws {
        guard isAlive(client) else { return }
        let version = try clients[client].engine.subscriptions.version
        var queries: [(query: SubscriptionQuery, shows: SubscriptionArrival)] = []
        for namespace in Self.namespaces.prefix(plan.hasTwoCollections ? 2 : 1) {
            for view in views {
                // From numbers that are there: the seeds keep their worlds.
                let number = plan.seed / 5 + UInt64(version) + UInt64(view.rawValue)
                queries.append(
                    (
                        try SubscriptionQuery(namespace, view.filter),
                        number % 2 == 0 ? .asTheyArrive : .together
                    ))
            }
        }
        if plan.refusesQueries, version % 2 == 0 {
            queries.append((try SubscriptionQuery(Self.unreadable, [:]), .together))
            queries.append(
                (
                    try SubscriptionQuery(Self.namespaces[0], [Self.refusedField: 1]),
                    .asTheyArrive
                ))
        }
        let wanted = queries
        try await clients[client].engine.subscriptions.update { set in
            set.removeAll()
            for next in wanted { set.insertOrAssign(next.query, shows: next.shows) }
        }
    }

    /// Makes the oldest rejected write of a client again.
    func retryRejected(_ client: Int) async throws {
        guard isAlive(client), let (document, write) = try await rejected(client).first else {
            return
        }
        try hear(client)
        let items = items(client, document)
        noteAppKnows(client, document)
        func note() async throws {
            guard try await items.rejectedWrites.write(id: write.id) == nil else { return }
            let now = try local(clients[client], document)
            if now == nil { return try await noteDeleted(client, document) }
            var values: [String: String] = [:]
            for path in SimulationLedger.paths {
                if case .string(let token)? = now?[path: path] { values[path] = token }
            }
            // The app's word: what it wrote since is overwritten where the two meet.
            ledger.withLock { $0.note(client, document, values: values, isWhole: true) }
        }
        do {
            try await items.rejectedWrites.retry(write.id)
        } catch let error as StoreError where error.code == .duplicateKey {
            return
        } catch {
            try await note()
            throw error
        }
        try await note()
    }

    /// Forgets all rejected writes of a client.
    func discardRejected(_ client: Int) async throws {
        guard isAlive(client) else { return }
        let before = try await rejected(client)
        func note() async throws {
            let kept = Set(try await rejected(client).map(\.1.id))
            for (document, write) in before where !kept.contains(write.id) {
                ledger.withLock { $0.forget(client, document, write) }
            }
        }
        do {
            for index in 0..<(plan.hasTwoCollections ? 2 : 1) {
                try await clients[client].engine.collection(Self.namespaces[index])
                    .rejectedWrites.discardAll()
            }
        } catch {
            try await note()
            throw error
        }
        try await note()
    }

    /// A client's rejected writes, the oldest of each collection first.
    func rejected(_ client: Int) async throws -> [(Int, RejectedWrite<BSONDocument>)] {
        var found: [(Int, RejectedWrite<BSONDocument>)] = []
        for index in 0..<(plan.hasTwoCollections ? 2 : 1) {
            let namespace = Self.namespaces[index]
            let collection = clients[client].engine.collection(namespace)
            for write in try await collection.rejectedWrites.all() {
                guard let document = document(namespace, write.documentID) else {
                    fail("a rejected write of no document that there is")
                    continue
                }
                found.append((document, write))
            }
        }
        return found
    }
}

// MARK: - Checks

extension SimulationWorld {
    /// Discards the changes that are refused as often as they are sent, as their app would at last.
    func giveUpRefused(_ number: Int) async throws {
        for document in 0..<plan.documents {
            guard case .paused = try await items(number, document).status(of: id(document))
            else { continue }
            try await perform(.discard(client: number, document: document))
        }
    }

    /// I2: what a query asks for is here, and nothing else that no id asks for.
    func checkView(
        _ number: Int, _ document: Int, _ status: DocumentSyncStatus, _ remote: BSONDocument?,
        _ name: String
    ) throws {
        // What nobody can understand is as it was.
        guard let remote, case .foreign = VersionField(of: remote) else {
            return try checkKnown(number, document, status, remote?.bare, name)
        }
    }

    private func checkKnown(
        _ number: Int, _ document: Int, _ status: DocumentSyncStatus, _ remote: BSONDocument?,
        _ name: String
    ) throws {
        let engine = clients[number].engine
        let namespace = namespace(document)
        let isAsked = try engine.heldSubscriptions().contains {
            guard let remote else { return false }
            return $0.query.namespace == namespace && $0.query.matches(remote)
        }
        switch status {
        case .notSynced:
            if isAsked { fail("I2 c\(number) d\(document) is asked for and not here \(name)") }
        case .synced:
            let isHere = try local(clients[number], document) != nil
            let isClaimed = try engine.isKeptByID(id(document), in: namespace)
            if isHere && !isAsked && !isClaimed {
                fail("I2 c\(number) d\(document) stays and is not asked for \(name)")
            }
        case .pending, .stale, .conflicted, .paused, .unexplained: return
        }
    }
}
