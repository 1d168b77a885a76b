internal import BSONStore

/// One pass over some collections: it pulls each collection, then pushes each one.
///
/// All pulls precede all pushes, so the app resolves conflicts before anything is uploaded. If the
/// remote fails for a collection, or the collection is stopped (``SyncStop``), the rest of the pass
/// skips it, and the others continue. An error of the store and a cancellation end the whole pass.
struct SyncPass {
    /// The part of a pass to run.
    enum Steps {
        /// The pull and the push.
        case all
        /// Only the read of the remote's history, which marks changed documents as stale.
        case markStaleOnly
    }

    let engine: PassEngine
    /// The collections of the pass; `nil` for all.
    let only: Set<Namespace>?
    let steps: Steps

    /// Runs the pass and returns its report, which lists the errors of collections that failed.
    ///
    /// - Throws: errors of the store and `CancellationError`. The app still receives the errors
    ///   that were found before.
    func run() async throws -> SyncPassReport {
        var plan = try plan()
        defer { deliverErrors(of: plan.collections) }
        switch steps {
        case .markStaleOnly:
            try await markStale(&plan.collections)
        case .all:
            try await pull(&plan.collections)
            if plan.bootstrapsSets {
                try await pushAndBootstrap(&plan.collections)
            } else {
                try await push(&plan.collections)
            }
        }
        return report(of: plan.collections)
    }

    /// Whether the pass includes a collection.
    func includes(_ namespace: Namespace) -> Bool { only?.contains(namespace) ?? true }
}

// MARK: - Steps

extension SyncPass {
    /// Marks the documents that the remote changed as stale, which means: to be fetched again.
    private func markStale(_ collections: inout [CollectionPass]) async throws {
        for index in collections.indices { try await collections[index].markStale() }
    }

    /// Applies the remote's changes to the store.
    private func pull(_ collections: inout [CollectionPass]) async throws {
        for index in collections.indices { try await collections[index].pull() }
    }

    /// Uploads the local changes.
    private func push(_ collections: inout [CollectionPass]) async throws {
        for index in collections.indices { try await collections[index].push() }
    }

    /// Uploads the local changes and downloads the documents of pending subscription sets.
    ///
    /// Writes and sets are handled in the order in which the app made them: the remote might refuse
    /// a write under another set.
    private func pushAndBootstrap(_ collections: inout [CollectionPass]) async throws {
        try await PushAndBootstrap(pass: self).run(&collections)
    }
}

// MARK: - Plan and report

extension SyncPass {
    /// The collections of a pass.
    private struct Plan {
        var collections: [CollectionPass]
        /// Whether the pass also downloads the documents of a pending subscription set.
        let bootstrapsSets: Bool
    }

    /// Returns the collections of the pass that have something to sync; all of these where the pass
    /// bootstraps a subscription set, which may affect any of them.
    private func plan() throws -> Plan {
        let (stored, isSetWaiting) = try engine.store.read { transaction in
            let connection = transaction.connection
            let sets = SubscriptionTable(connection: connection, cache: engine.sets)
            let all = try SyncCollectionTable(connection: connection).all()
            let history = try sets.history()
            return (
                try all.filter { try !Self.isIdle($0, history, connection) },
                try sets.isSetWaiting()
            )
        }
        // A set that the app makes during the pass waits for the next one.
        let bootstrapsSets = isSetWaiting && steps == .all
        let chosen = bootstrapsSets ? stored : stored.filter { includes($0.namespace) }
        return Plan(collections: chosen.map(collectionPass), bootstrapsSets: bootstrapsSets)
    }

    /// Whether a collection has nothing to sync: the remote refused its only subscriptions, now or
    /// before they were removed.
    ///
    /// They are asked for again with the next set.
    private static func isIdle(
        _ collection: SyncCollectionState, _ history: SubscriptionHistory,
        _ connection: SQLiteConnection
    ) throws -> Bool {
        let namespace = collection.namespace
        let isAsked = history.sets.contains { $0.asks(of: namespace) }
        guard !collection.hasWantedIDs, !collection.hasAttempts,
            history.hasRefusedAll(of: namespace) || collection.token == nil && !isAsked
        else { return false }
        return try !SyncRecordTable(connection: connection).holds(.all, in: collection.rowID)
    }

    private func collectionPass(_ collection: SyncCollectionState) -> CollectionPass {
        let namespace = collection.namespace
        return CollectionPass(
            context: PassContext(
                engine: engine, namespace: namespace, remote: engine.remote.collection(namespace),
                configuration: engine.writer.configuration(of: namespace),
                collectionNumber: collection.rowID))
    }

    /// Delivers the errors of all collections, and the stored events, to the app.
    private func deliverErrors(of collections: [CollectionPass]) {
        engine.delivery.reportPass(
            collections.flatMap { $0.context.findings.errors },
            collectionCount: collections.count)
        if !collections.contains(where: \.isPulled),
            let error = collections.lazy.compactMap(\.context.findings.errors.first).first
        {
            engine.delivery.logUnheard(error)
        }
        engine.delivery.wake()
    }

    private func report(of collections: [CollectionPass]) -> SyncPassReport {
        var report = SyncPassReport()
        for collection in collections {
            let findings = collection.context.findings
            var share = findings.report
            share.errors = findings.errors.map(\.code) + findings.reportedCodes
            report.add(share)
        }
        return report
    }
}
