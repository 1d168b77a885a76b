internal import BSONStore

/// The upload of writes and the download of subscription sets, in the order in which they were
/// made.
struct SubscriptionTurns {
    let pass: SyncPass

    private var engine: PassEngine { pass.engine }

    /// The next request, with the set concerned.
    private struct UploadTurn {
        let order: SubscriptionOrder
        /// The set to download, or the set that the writes precede.
        var version: Int64?
    }

    /// Alternates uploads and subscription sets until all is done or the rest has to wait for the
    /// next pass.
    func run(_ passes: inout [CollectionPass], _ failedToRead: Set<Int>) async throws {
        var failed = failedToRead
        for index in passes.indices
        where !failed.contains(index) && pass.isMeant(passes[index].context.namespace) {
            // Subscription sets do not affect the writes of collections that never had a
            // subscription.
            guard try !passes[index].context.read({ $1.isSubscribed }) else { continue }
            let didSend = try await pass.attempt(&passes[index]) { pass in
                try await pass.localToRemote()
            }
            if !didSend { failed.insert(index) }
        }
        while true {
            let turn = try turn()
            switch turn.order {
            case .nothing: return
            case .sendWrites:
                for index in passes.indices where !failed.contains(index) {
                    guard turn.version != nil || pass.isMeant(passes[index].context.namespace)
                    else { continue }
                    let didSend = try await pass.attempt(&passes[index]) { pass in
                        try await pass.localToRemote(before: turn.version)
                    }
                    if !didSend { failed.insert(index) }
                }
                guard let version = turn.version, try !isHeldUp(version) else { return }
            case .receive, .askForSet:
                guard let version = turn.version,
                    try await bootstrap(version, &passes, failed)
                else { return }
            }
        }
    }

    private func turn() throws -> UploadTurn {
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
            case .receive: return UploadTurn(order: order, version: history.coming?.version)
            case .askForSet: return UploadTurn(order: order, version: next?.version)
            case .sendWrites:
                return UploadTurn(order: order, version: history.waiting.isEmpty ? nil : heldUp)
            case .nothing: return UploadTurn(order: order)
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

extension SubscriptionTurns {
    /// Downloads and stages the documents of a set, and activates the set once all are staged.
    ///
    /// Each step is a transaction that stores the progress, so that the download continues there
    /// after a crash.
    ///
    /// - Returns: whether the set was answered; if not, a later pass continues.
    private func bootstrap(
        _ version: Int64, _ passes: inout [CollectionPass], _ failed: Set<Int>
    ) async throws -> Bool {
        guard let plan = try await beginBootstrap(version) else {
            engine.progress.expectNothing()
            return true
        }
        // A set without new queries needs no request.
        guard !plan.queries.isEmpty else { return try await complete(version, passes) }
        var progress = plan.progress
        let places = Dictionary(
            uniqueKeysWithValues: passes.enumerated().map { ($1.context.namespace, $0) })
        let concerned = Set(plan.namespaces.compactMap { places[$0] })
        guard concerned.count == plan.namespaces.count, concerned.isDisjoint(with: failed) else {
            return false
        }
        try await count(plan, passes, places)
        while progress.query < plan.queries.count {
            let query = plan.queries[progress.query]
            guard let place = places[query.namespace] else { return false }
            var next = progress
            var refusal: RemoteError?
            let didRead = try await pass.attempt(&passes[place]) { pass in
                do {
                    next = try await pass.stagePage(of: query, progress, version)
                } catch let error as RemoteError where error.errorClass == .rejected {
                    refusal = error
                }
            }
            if let refusal {
                try await refuse(version, refusal, passes[place].context)
                return true
            }
            guard didRead else { return false }
            progress = next
        }
        // The set includes changes during the download of its documents.
        for place in concerned.sorted() {
            guard try await pass.attempt(&passes[place], { try await $0.remoteToLocal() }) else {
                return false
            }
        }
        return try await complete(version, passes)
    }

    /// Requests the number of documents that a set's queries will still return, for the progress.
    private func count(
        _ plan: Plan, _ passes: [CollectionPass], _ places: [Namespace: Int]
    ) async throws {
        var counts = [Int](repeating: 0, count: plan.queries.count)
        guard plan.progress.query < counts.count else { return }
        for index in plan.progress.query..<plan.queries.count {
            guard let place = places[plan.queries[index].namespace] else { continue }
            counts[index] = try await StageDocuments(context: passes[place].context)
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

    private func complete(
        _ version: Int64, _ passes: [CollectionPass]
    ) async throws -> Bool {
        let activation: SubscriptionActivation.Outcome?
        do {
            activation = try await activate(version, individually: false)
        } catch let cause where SyncTransaction.concernsDocument(cause) {
            activation = try await activate(version, individually: true)
        }
        guard let activation else { return false }
        engine.progress.noteSetEnded()
        for pass in passes {
            guard let share = activation.shares[pass.context.namespace] else { continue }
            let findings = pass.context.findings
            findings.add(contentsOf: share.errors)
            findings.count { report in
                report.taken += share.taken
                report.evicted += share.evicted
                report.paused += share.errors.count { $0.code != .foreignVersion }
            }
        }
        passes.first?.context.findings.count { $0.subscriptionSets += 1 }
        engine.delivery.wake()
        return true
    }
}
