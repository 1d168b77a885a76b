internal import BSONStore

/// The search for documents that match the active set and have no record.
struct FindNewcomers {
    let context: PassContext

    /// Requests the ids of documents that match the active set and have no record; after a gap in
    /// the history, nothing else reports them.
    func run() async throws {
        let sets = context.engine.sets
        guard try context.read({ $1.isSubscribed }) else { return }
        try await context.write { sync in try sync.subscriptions.cancelBootstrap() }
        let queries = try context.engine.store.read { transaction in
            try SubscriptionTable(connection: transaction.connection, cache: sets).history().held
                .queries.index(of: context.namespace)?.queries ?? []
        }
        let (limit, failures) = (context.limits.batchDocuments, context.engine.failures)
        for group in QueryGroup.all(in: queries) {
            let filter = group.filter
            let subjects = LastingFailures.Subject.all(of: group)
            var last: BSONValue?
            while true {
                let after = last
                let page: RemoteVersionPage
                do {
                    page = try await context.request { remote in
                        try await remote.versions(matching: filter, after: after, limit: limit)
                    }
                } catch let error as RemoteError where failures.isRefusal(error, of: subjects) {
                    // Local documents stay and are synced; the error is reported to the app.
                    context.findings.add(
                        SyncError(
                            .subscriptionFailed, error.description, namespace: context.namespace,
                            underlying: error))
                    break
                }
                let ids = page.entries.map(\.documentID)
                try await context.write { sync in try MarkStale(sync: sync).wantNewcomers(ids) }
                guard !page.isLast, let end = ids.last else {
                    failures.forget(subjects)
                    break
                }
                last = end
            }
        }
    }
}
