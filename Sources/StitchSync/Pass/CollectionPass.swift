internal import BSONStore

/// One collection's share of a pass.
struct CollectionPass {
    let context: PassContext
    private var identity = CheckIdentity.Finding()
    /// Whether this pass stages documents of a subscription set.
    private var isStaging = false

    init(context: PassContext) { self.context = context }

    /// Reads the remote's history and stores stale marks, without fetching the documents.
    mutating func readInbox() async throws {
        identity = try await CheckIdentity(context: context).run()
        try await expandAttemptBatches()
        try await ReadInbox(context: context, applyRemote: applyRemote).run(looking: false)
    }

    /// Downloads what changed at the remote.
    mutating func remoteToLocal() async throws {
        identity = try await CheckIdentity(context: context).run()
        try await expandAttemptBatches()
        try await pauseQuarantined()
        try ResolveConflicts(context: context).removeFinishedWaits()
        try await ReadInbox(context: context, applyRemote: applyRemote).run(looking: true)
        try await applyRemote.applyWanted()
        try await applyRemote.applyStale()
        try await ExplainMissing(context: context, applyRemote: applyRemote).run()
    }

    /// Uploads pending changes, then asks the app about refused ones.
    ///
    /// - Parameter set: the subscription set whose earlier writes are uploaded; `nil` uploads all.
    mutating func localToRemote(before set: Int64? = nil) async throws {
        var failure: RemoteError?
        do {
            try await Upload(context: context, applyRemote: applyRemote).run(before: set)
            if identity.isUncreated, context.findings.report.uploaded > 0,
                try await CheckIdentity(context: context).adoptCreated()
            {
                identity.isUncreated = false
            }
        } catch let error as RemoteError {
            failure = error
        }
        try await AskAboutRejections(context: context).run()
        if let failure { throw failure }
        try await clearSubscribedMark()
    }

    /// Stages a page of a query's results, and returns the position after it.
    mutating func stagePage(
        of query: SubscriptionQuery, _ progress: SubscriptionTable.Progress, _ version: Int64
    ) async throws -> SubscriptionTable.Progress {
        let next = try await StageDocuments(context: context).stagePage(
            of: query, progress, version)
        isStaging = true
        return next
    }

    private var applyRemote: ApplyRemote {
        ApplyRemote(context: context, isIdentityKnown: identity.isKnown, isStaging: isStaging)
    }

    /// Stores batched attempts without a response in their records, so that evidence settles each.
    private func expandAttemptBatches() async throws {
        guard try context.read({ $1.hasAttempts }) else { return }
        try await context.write { try ExpandBatches(sync: $0).expandAttempts() }
    }

    /// Calls ``PauseQuarantined/run()`` only where documents were quarantined.
    private func pauseQuarantined() async throws {
        let isNews = try context.snapshot {
            try !QuarantinedDocuments($0.transaction.connection).news(of: context.namespace).isEmpty
        }
        if isNews { try await context.write { try PauseQuarantined(sync: $0).run() } }
    }

    /// Clears the collection's mark of subscriptions once no subscription and none of their
    /// documents is left.
    private func clearSubscribedMark() async throws {
        let sets = context.engine.sets
        let isOver = try context.snapshot { snapshot in
            guard snapshot.collection.isSubscribed else { return false }
            let stored = SubscriptionTable(connection: snapshot.transaction.connection, cache: sets)
            return try !stored.asks(of: context.namespace)
                && snapshot.records.records(.byQuery, in: snapshot.collection.rowID, limit: 1)
                    .isEmpty
        }
        if isOver {
            try await context.write { sync in try ApplyMembership(sync: sync).clearSubscribedMark()
            }
        }
    }
}
