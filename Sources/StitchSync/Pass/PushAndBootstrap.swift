internal import BSONStore

/// The push of a pass while a subscription set is pending: it alternates uploads of writes with
/// bootstraps, the downloads of sets, in the order in which the app made them.
///
/// A write that precedes a set is uploaded first: under the new set the remote might refuse it. A
/// write that follows a set is uploaded once the set is active.
struct PushAndBootstrap {
    let pass: SyncPass

    private var engine: PassEngine { pass.engine }

    /// The next thing to do, with the set concerned.
    private struct Turn {
        let order: SubscriptionOrder
        /// The set to download, or the set that the writes precede.
        var version: Int64?
    }

    /// Alternates uploads and bootstraps until all is done or the rest has to wait for the next
    /// pass.
    func run(_ collections: inout [CollectionPass]) async throws {
        try await pushUnsubscribed(&collections)
        while true {
            let turn = try nextTurn()
            switch turn.order {
            case .nothing: return
            case .sendWrites:
                for index in collections.indices
                where turn.version != nil || pass.includes(collections[index].context.namespace) {
                    try await collections[index].push(before: turn.version)
                }
                guard let version = turn.version, try !isHeldUp(version) else { return }
            case .receive, .askForSet:
                guard let version = turn.version, try await bootstrap(version, &collections) else {
                    return
                }
            }
        }
    }

    /// Pushes the collections that never had a subscription: no set affects their writes.
    private func pushUnsubscribed(_ collections: inout [CollectionPass]) async throws {
        for index in collections.indices
        where collections[index].isPulled && pass.includes(collections[index].context.namespace) {
            if try !collections[index].context.read({ $1.isSubscribed }) {
                try await collections[index].push()
            }
        }
    }

    /// Decides from the stored sets and the pending writes what comes next.
    private func nextTurn() throws -> Turn {
        try engine.store.read { transaction in
            let sets = SubscriptionTable(connection: transaction.connection, cache: engine.sets)
            let history = try sets.history()
            let heldUp = try sets.firstHeldUp()
            // Of several sets without a write in between, only the last matters.
            let next = history.waiting.last { $0.version < heldUp ?? .max }
            let order = SubscriptionOrder.decide(
                SubscriptionOrderFacts(
                    isBootstrapping: history.coming != nil,
                    hasUnaskedSet: !history.waiting.isEmpty,
                    hasEarlierWrites: next == nil && heldUp != nil, hasLaterWrites: true))
            switch order {
            case .receive: return Turn(order: order, version: history.coming?.version)
            case .askForSet: return Turn(order: order, version: next?.version)
            case .sendWrites:
                return Turn(order: order, version: history.waiting.isEmpty ? nil : heldUp)
            case .nothing: return Turn(order: order)
            }
        }
    }

    /// Whether a write from before a set is still pending.
    private func isHeldUp(_ version: Int64) throws -> Bool {
        try engine.store.read { transaction in
            let sets = SubscriptionTable(connection: transaction.connection, cache: engine.sets)
            return try sets.firstHeldUp().map { $0 <= version } ?? false
        }
    }
}

// MARK: - The documents of a set

extension PushAndBootstrap {
    /// Downloads and stages the documents of a set, and activates the set once all are staged.
    ///
    /// Each step is a transaction that stores the progress, so that the download continues there
    /// after a crash.
    ///
    /// - Returns: whether the set was answered; if not, a later pass continues.
    private func bootstrap(
        _ version: Int64, _ collections: inout [CollectionPass]
    ) async throws -> Bool {
        guard let plan = try await beginBootstrap(version) else {
            engine.progress.expectNothing()
            return true
        }
        // A set without new queries needs no request.
        guard !plan.queries.isEmpty else { return try await complete(version, collections) }
        let places = Dictionary(
            uniqueKeysWithValues: collections.enumerated().map { ($1.context.namespace, $0) })
        let concerned = Set(plan.namespaces.compactMap { places[$0] })
        guard concerned.count == plan.namespaces.count,
            concerned.allSatisfy({ collections[$0].isPulled })
        else { return false }
        try await count(plan, collections, places)

        // Stage. Requests the queries' results page by page; writes each page and the progress.
        var progress = plan.progress
        while progress.query < plan.queries.count {
            let query = plan.queries[progress.query]
            guard let place = places[query.namespace] else { return false }
            switch try await collections[place].stagePage(of: query, from: progress, set: version) {
            case .staged(let next): progress = next
            case .refused(let error):
                try await refuse(version, error, collections[place].context)
                return true
            case .failed: return false
            }
        }

        // Pull again. The set includes the changes during the download of its documents.
        for place in concerned.sorted() {
            try await collections[place].pull(isBootstrapping: true)
            guard collections[place].isPulled else { return false }
        }

        // Activate. Moves the staged documents to their collections in one transaction.
        return try await complete(version, collections)
    }

    /// Requests the number of documents that a set's queries will still return, for the progress.
    private func count(
        _ plan: Plan, _ collections: [CollectionPass], _ places: [Namespace: Int]
    ) async throws {
        var counts = [Int](repeating: 0, count: plan.queries.count)
        guard plan.progress.query < counts.count else { return }
        for index in plan.progress.query..<plan.queries.count {
            guard let place = places[plan.queries[index].namespace] else { continue }
            counts[index] = try await StageDocuments(context: collections[place].context)
                .documentCount(plan.queries[index])
        }
        let first = plan.progress.query
        counts[first] = max(0, counts[first] - plan.progress.read)
        engine.progress.expect(counts)
    }

    /// The queries of a set whose documents are not on the device, and the progress.
    private struct Plan: Sendable {
        let queries: [SubscriptionQuery]
        let namespaces: Set<Namespace>
        let progress: SubscriptionTable.Progress
    }

    /// Marks the set as bootstrapping and returns its plan; `nil` if the set is not pending any
    /// more.
    private func beginBootstrap(_ version: Int64) async throws -> Plan? {
        let cache = engine.sets
        return try await engine.writer.write { transaction -> Plan? in
            let sets = SubscriptionTable(connection: transaction.connection, cache: cache)
            var history = try sets.history()
            guard let set = history.waiting.first(where: { $0.version == version }) else {
                return nil
            }
            _ = history.apply(.bootstrapBegan, to: version)
            try sets.save(history)
            return Plan(
                queries: history.newQueries(of: set),
                namespaces: Set(set.subscriptions.map(\.query.namespace)),
                progress: try sets.progress(of: version))
        }
    }

    /// Stores the remote's refusal of a set, removes its staged documents and reports the error.
    private func refuse(
        _ version: Int64, _ error: RemoteError, _ context: PassContext
    ) async throws {
        let cache = engine.sets
        try await engine.writer.write { transaction in
            let sets = SubscriptionTable(connection: transaction.connection, cache: cache)
            var history = try sets.history()
            _ = history.apply(.refused(error.message), to: version)
            try sets.save(history)
            try sets.clearStaged()
            try sets.removeEarlier(upTo: version)
        }
        engine.progress.noteSetEnded()
        context.findings.count { $0.subscriptionSets += 1 }
        context.findings.add(
            SyncError(
                .subscriptionFailed, error.description, namespace: context.namespace,
                underlying: error))
    }

    private func activate(
        _ version: Int64, individually: Bool
    ) async throws -> SubscriptionActivation.Outcome? {
        let (sets, writer) = (engine.sets, engine.writer)
        return try await writer.write { transaction in
            try SubscriptionActivation(
                transaction: transaction, sets: sets, version: version, individually: individually,
                listens: writer.listens
            ).run()
        }
    }

    /// Activates a set whose documents are all staged and counts what changed.
    ///
    /// If a document cannot be stored, each is stored in a savepoint of its own.
    private func complete(
        _ version: Int64, _ collections: [CollectionPass]
    ) async throws -> Bool {
        let activation: SubscriptionActivation.Outcome?
        do {
            activation = try await activate(version, individually: false)
        } catch let cause where SyncTransaction.concernsDocument(cause) {
            activation = try await activate(version, individually: true)
        }
        guard let activation else { return false }
        engine.progress.noteSetEnded()
        for collection in collections {
            let findings = collection.context.findings
            guard let share = activation.shares[collection.context.namespace] else { continue }
            findings.add(contentsOf: share.errors)
            findings.count { report in
                report.taken += share.taken
                report.evicted += share.evicted
                report.paused += share.errors.count { $0.code != .foreignVersion }
            }
        }
        collections.first?.context.findings.count { $0.subscriptionSets += 1 }
        engine.delivery.wake()
        return true
    }
}
