internal import BSONStore

/// One collection's share of a pass: a pull, which applies the remote's changes, and a push, which
/// uploads the local ones.
///
/// Each is a list of steps in a fixed order. A step reads the store and the remote and commits its
/// own transactions, so the next pass can continue where this one ended (see ``PassContext``).
/// Counts and errors of all steps go to ``PassFindings``.
struct CollectionPass {
    /// How far the pass has come with the collection.
    enum State {
        /// Nothing was requested from the remote yet. Only a pull may follow.
        case new
        /// The last step succeeded, after a pull that found this. Any step may follow.
        case pulled(CheckIdentity.Finding)
        /// A step failed and its error is in the findings. The pass skips the collection's rest.
        case failed
    }

    let context: PassContext
    private(set) var state = State.new

    init(context: PassContext) { self.context = context }

    /// Whether the collection was pulled and no step failed since.
    var isPulled: Bool {
        if case .pulled = state { true } else { false }
    }
}

// MARK: - Pull

extension CollectionPass {
    /// Downloads and applies the changes of the remote.
    ///
    /// - Parameter isBootstrapping: whether documents of a subscription set were staged in this
    ///   pass, so that a staged document is not counted twice.
    mutating func pull(isBootstrapping: Bool = false) async throws {
        let finding = try await context.reportingFailure {
            // Check the remote. Reads its identity; writes the adopted identity, or the reason why
            // the collection stops.
            let identity = try await CheckIdentity(context: context).run()
            let apply = ApplyRemote(
                context: context, isIdentityKnown: identity.isKnown, isStaging: isBootstrapping)

            // Prepare the records. Reads and writes the store only.
            try await moveBatchedAttemptsToRecords()
            try await pauseQuarantined()
            try ResolveConflicts(context: context).removeFinishedWaits()

            // Pull. Reads the remote's history after the stored token and fetches the changed
            // documents; writes them, their records and the new token.
            try await ReadInbox(context: context, applyRemote: apply).run(changed: .fetch)

            // Apply remote changes. Fetches the ids that the app requested, then the documents with
            // a stale mark or an open attempt; writes them and their records. After each commit the
            // app's handler resolves the conflicts that it found (``ResolveConflicts``).
            try await apply.applyWanted()
            try await apply.applyStale()

            // Explain absences. Requests evidence of a delete for each document that a fetch
            // missed; writes the delete, or keeps the document as unexplained.
            try await ExplainMissing(context: context, applyRemote: apply).run()
            return identity
        }
        state = finding.map(State.pulled) ?? .failed
    }

    /// Reads the remote's history and stores stale marks and the new token, without fetching the
    /// documents; a later pull fetches them.
    mutating func readInbox() async throws {
        let finding = try await context.reportingFailure {
            let identity = try await CheckIdentity(context: context).run()
            let apply = ApplyRemote(
                context: context, isIdentityKnown: identity.isKnown, isStaging: false)
            try await moveBatchedAttemptsToRecords()
            try await ReadInbox(context: context, applyRemote: apply).run(changed: .markStale)
            return identity
        }
        state = finding.map(State.pulled) ?? .failed
    }

    /// The result of staging a page of a subscription set's documents.
    enum StagedPage {
        /// The page is stored; the next one begins here.
        case staged(next: SubscriptionTable.Progress)
        /// The remote refused the query, which ends the set. The collection continues.
        case refused(RemoteError)
        /// The remote failed; a later pass continues.
        case failed
    }

    /// Stages a page of a query's results, and the position after it.
    ///
    /// - Parameter version: the version of the subscription set that has the query.
    mutating func stagePage(
        of query: SubscriptionQuery, from progress: SubscriptionTable.Progress, set version: Int64
    ) async throws -> StagedPage {
        let page = try await context.reportingFailure { () -> StagedPage in
            do {
                return .staged(
                    next: try await StageDocuments(context: context).stagePage(
                        of: query, from: progress, set: version))
            } catch let error as RemoteError where error.errorClass == .rejected {
                return .refused(error)
            }
        }
        if page == nil { state = .failed }
        return page ?? .failed
    }
}

// MARK: - Push

extension CollectionPass {
    /// Uploads pending changes, then asks the app about refused ones; does nothing unless the
    /// collection was pulled.
    ///
    /// - Parameter set: the subscription set whose earlier writes are uploaded; `nil` uploads all.
    mutating func push(before set: Int64? = nil) async throws {
        guard case .pulled(let identity) = state else { return }

        // Push. Reads the pending records; writes an attempt for each before it is sent, then the
        // settlement of each response. Documents that another client changed first are fetched.
        let finding = try await context.reportingFailure {
            let apply = ApplyRemote(
                context: context, isIdentityKnown: identity.isKnown, isStaging: false)
            try await Upload(context: context, applyRemote: apply).run(before: set)
            return try await adoptingCreated(identity)
        }
        state = finding.map(State.pulled) ?? .failed

        // Ask about rejections. Reads the refused writes, even those of an upload that failed
        // later; writes the app's decisions.
        try await AskAboutRejections(context: context).run()

        // End the subscriptions. Reads the sets and records; clears the column `subscribed`.
        if isPulled { try await endSubscriptions() }
    }

    /// Adopts the identity of a remote collection that the first upload created, and returns what
    /// is known of the identity now.
    private func adoptingCreated(
        _ identity: CheckIdentity.Finding
    ) async throws -> CheckIdentity.Finding {
        guard identity.isUncreated, context.findings.report.uploaded > 0,
            try await CheckIdentity(context: context).adoptCreated()
        else { return identity }
        var adopted = identity
        adopted.isUncreated = false
        return adopted
    }
}

// MARK: - Steps within the store

extension CollectionPass {
    /// Moves the attempts of an interrupted upload to the records of their documents.
    ///
    /// An upload stores the attempts of a batch in one row (``AttemptBatch``) and removes it with
    /// the responses. A row that is still there belongs to an upload whose responses were lost.
    /// Each record then needs its own attempt, since the remote may have applied some of them: the
    /// pull looks for evidence of each.
    private func moveBatchedAttemptsToRecords() async throws {
        guard try context.read({ $1.hasAttempts }) else { return }
        try await context.write { try ExpandBatches(sync: $0).expandAttempts() }
    }

    /// Marks the records of documents that the store quarantined as damaged, so that they are
    /// downloaded again and not deleted at the remote.
    ///
    /// Most passes find none and begin no write transaction.
    private func pauseQuarantined() async throws {
        let hasUnhandled = try context.snapshot { snapshot in
            try !QuarantinedDocuments(snapshot.transaction.connection)
                .unhandled(in: context.namespace).isEmpty
        }
        if hasUnhandled { try await context.write { try PauseQuarantined(sync: $0).run() } }
    }

    /// Clears the column `subscribed` once no subscription set includes the collection and no
    /// document is left that only a query requested.
    private func endSubscriptions() async throws {
        let sets = context.engine.sets
        let hasEnded = try context.snapshot { snapshot in
            guard snapshot.collection.isSubscribed else { return false }
            let stored = SubscriptionTable(connection: snapshot.transaction.connection, cache: sets)
            return try !stored.hasSubscription(on: context.namespace)
                && snapshot.records.records(.byQuery, in: snapshot.collection.rowID, limit: 1)
                    .isEmpty
        }
        guard hasEnded else { return }
        try await context.write { try ApplyMembership(sync: $0).clearSubscribedMark() }
    }
}

// MARK: - Failures

extension PassContext {
    /// Runs steps and returns their result; `nil` if they failed for this collection alone, which
    /// the findings then report.
    ///
    /// Two errors fail one collection: a ``CollectionStoppedError`` and a `RemoteError`.
    ///
    /// It is not inlined, since Swift 6.3's optimizer crashes on the inlined form.
    ///
    /// - Throws: every other error, which ends the whole pass: those of the store, and
    ///   `CancellationError`.
    @inline(never)
    fileprivate func reportingFailure<R>(_ steps: () async throws -> R) async throws -> R? {
        do {
            try Task.checkCancellation()
            return try await steps()
        } catch let stopped as CollectionStoppedError {
            report(stopped.stop)
            return nil
        } catch let error as RemoteError {
            try Task.checkCancellation()
            findings.add(
                SyncError(
                    error.errorClass == .unauthenticated ? .authRequired : .remoteUnavailable,
                    error.description, namespace: namespace, underlying: error))
            return nil
        }
    }

    /// Reports a stop to the app, once for each start of the engine; afterwards only the pass's
    /// report lists it.
    private func report(_ stop: SyncStop) {
        let isKnown = engine.reportedStops.withLock { stops in
            defer { stops[namespace] = stop }
            return stops[namespace] == stop
        }
        if isKnown {
            findings.addPersisted(stop.code)
        } else {
            findings.add(stop.error(in: namespace))
        }
    }
}
