internal import BSONStore

/// One pass over some collections: it pulls each collection, then pushes each one.
///
/// All pulls precede all pushes, so the app resolves conflicts before anything is uploaded. A
/// collection that fails is skipped for the rest of the pass, and the others continue. Only a
/// failure of the remote and a stopped collection count as such; an error of the store and a
/// cancellation end the whole pass.
struct SyncPass {
    /// The part of a pass to run.
    enum Steps {
        /// The pull and the push.
        case all
        /// Only the read of the remote's history, which marks changed documents as stale.
        case inboxOnly
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
        case .inboxOnly:
            try await readInboxes(&plan.collections)
        case .all:
            try await pull(&plan.collections)
            if plan.isSetPending {
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
    private func readInboxes(_ collections: inout [CollectionPass]) async throws {
        for index in collections.indices { try await collections[index].readInbox() }
    }

    /// Applies the remote's changes to the store.
    private func pull(_ collections: inout [CollectionPass]) async throws {
        for index in collections.indices { try await collections[index].pull() }
    }

    /// Uploads the local changes.
    private func push(_ collections: inout [CollectionPass]) async throws {
        for index in collections.indices { try await collections[index].push() }
    }

    /// Uploads the local changes and downloads the documents of pending subscription sets, in the
    /// order in which the app made both: the remote might refuse a write under another set.
    private func pushAndBootstrap(_ collections: inout [CollectionPass]) async throws {
        try await PushAndBootstrap(pass: self).run(&collections)
    }
}

// MARK: - Plan and report

extension SyncPass {
    /// The collections of a pass.
    private struct Plan {
        var collections: [CollectionPass]
        /// Whether a subscription set waits for its documents, so that the pass downloads them.
        let isSetPending: Bool
    }

    /// Returns the collections to pull: those of the pass, or all of them while a subscription set
    /// is pending, which may concern each.
    private func plan() throws -> Plan {
        let (stored, hasPendingSet) = try engine.store.read { transaction in
            let connection = transaction.connection
            let sets = SubscriptionTable(connection: connection, cache: engine.sets)
            return (
                try SyncCollectionTable(connection: connection).all(), try sets.isSetWaiting()
            )
        }
        let isSetPending = hasPendingSet && steps == .all
        let chosen = isSetPending ? stored : stored.filter { includes($0.namespace) }
        return Plan(collections: chosen.map(collectionPass), isSetPending: isSetPending)
    }

    private func collectionPass(_ collection: SyncCollectionState) -> CollectionPass {
        let namespace = collection.namespace
        return CollectionPass(
            context: PassContext(
                engine: engine, namespace: namespace, remote: engine.remote.collection(namespace),
                configuration: engine.writer.configuration(of: namespace),
                sessionNumber: collection.rowID))
    }

    /// Delivers the errors of all collections, and the stored events, to the app.
    private func deliverErrors(of collections: [CollectionPass]) {
        for collection in collections {
            engine.delivery.report(collection.context.findings.errors)
        }
        engine.delivery.wake()
    }

    private func report(of collections: [CollectionPass]) -> SyncPassReport {
        var report = SyncPassReport()
        for collection in collections {
            let findings = collection.context.findings
            var share = findings.report
            share.errors = findings.errors.map(\.code) + findings.persistedErrors
            report.add(share)
        }
        return report
    }
}
