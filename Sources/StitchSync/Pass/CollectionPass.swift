internal import BSONStore

/// One collection's share of a pass: a pull, which applies the remote's changes, and a push, which
/// uploads the local ones.
///
/// Each is a list of steps in a fixed order. A step reads the store and the remote and commits its
/// own transactions, so the next pass can continue where this one ended (see ``PassContext``).
/// Counts and errors of all steps go to ``PassFindings``; the only state between the steps is
/// ``state``.
struct CollectionPass {
    /// The progress of the pass with the collection.
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

    /// Downloads and applies the changes of the remote.
    ///
    /// - Parameter isBootstrapping: whether this pass staged documents, that is, stored documents
    ///   of a subscription set that is not active yet; they are not counted twice.
    mutating func pull(isBootstrapping: Bool = false) async throws {
        state = try await stateAfter {
            let identity = try await checkIdentity()
            let fetching = applyRemote(identity, isStaging: isBootstrapping)
            try await expandAttempts()
            try await pauseQuarantined()
            try await resumeUndecodable()
            try ResolveConflicts(context: context).removeFinishedWaits()
            try await readHistory(fetching, changed: .fetch)
            try await fetching.applyWanted()
            try await fetchStale(fetching)
            try await ExplainMissing(context: context, applyRemote: fetching).run()
            return identity
        }
    }

    /// Reads the remote's history and marks the changed documents as stale, without fetching them;
    /// a later pull does.
    mutating func markStale() async throws {
        state = try await stateAfter {
            let identity = try await checkIdentity()
            try await expandAttempts()
            try await readHistory(applyRemote(identity), changed: .markStale)
            return identity
        }
    }

    /// Uploads pending changes, then asks the app about refused ones; does nothing unless the
    /// collection was pulled.
    ///
    /// - Parameter set: the subscription set whose earlier writes are uploaded; `nil` uploads all.
    mutating func push(before set: Int64? = nil) async throws {
        guard case .pulled(let identity) = state else { return }
        state = try await stateAfter {
            try await upload(before: set, applyRemote(identity))
            return try await adoptCreated(identity)
        }
        // Even after a failed upload, which may have stored refused writes before.
        try await AskAboutRejections(context: context).run()
        if isPulled { try await endSubscriptions() }
    }

    /// Runs steps and returns the collection's state after them: pulled with the identity that they
    /// return, or failed once a step fails for this collection alone.
    ///
    /// - Throws: the errors that end the whole pass.
    private func stateAfter(
        _ steps: () async throws -> CheckIdentity.Finding
    ) async throws -> State {
        let identity = try await context.reportingFailure(steps)
        return identity.map(State.pulled) ?? .failed
    }
}

// MARK: - Steps of a pull

extension CollectionPass {
    /// Checks that the remote collection is the one that the documents were synced with.
    ///
    /// Reads the remote's identity; writes the adopted identity, or why the collection stops.
    private func checkIdentity() async throws -> CheckIdentity.Finding {
        try await CheckIdentity(context: context).run()
    }

    /// Returns the step that fetches remote documents and stores them.
    private func applyRemote(
        _ identity: CheckIdentity.Finding, isStaging: Bool = false
    ) -> ApplyRemote {
        ApplyRemote(context: context, isIdentityKnown: identity.isKnown, isStaging: isStaging)
    }

    /// Writes the attempts of an interrupted upload to the records of their documents.
    ///
    /// An attempt is a write that was stored before it was sent. An upload stores the attempts of a
    /// batch in one row (``AttemptBatch``) and removes it with the answers. A row that is still
    /// there belongs to an upload whose answers were lost. Each record then needs its own
    /// attempt, since the remote may have applied some of them: the pull looks for evidence of
    /// each.
    private func expandAttempts() async throws {
        guard try context.read({ $1.hasAttempts }) else { return }
        try await context.write { try ExpandBatches(sync: $0).expandAttempts() }
    }

    /// Pauses documents that the store quarantined, that is, moved away because they are damaged,
    /// so that they are downloaded again and not deleted at the remote.
    ///
    /// Most passes find none and begin no write transaction.
    private func pauseQuarantined() async throws {
        let hasUnhandled = try context.snapshot { snapshot in
            try !QuarantinedDocuments(snapshot.transaction.connection)
                .unhandled(in: context.namespace).isEmpty
        }
        if hasUnhandled { try await context.write { try PauseQuarantined(sync: $0).run() } }
    }

    /// Ends the pauses of documents that an earlier version of the app could not decode in a
    /// conflict; once for each conflict handler that the app sets.
    private func resumeUndecodable() async throws {
        let isDue = context.configuration.retriesUndecodable.withLock { isDue in
            defer { isDue = false }
            return isDue
        }
        guard isDue else { return }
        let ids = try context.read { records, collection in
            try records.documentIDs(.paused, in: collection.rowID)
        }
        guard !ids.isEmpty else { return }
        try await context.write { sync in
            for id in ids {
                guard var record = try sync.record(id), record.isUndecodable else { continue }
                try sync.endPauseAndRefetch(of: &record)
                try sync.save(record)
            }
        }
    }

    /// Reads the remote's history after the stored resume token; fetches the changed documents, or
    /// marks them as stale: to be fetched later.
    ///
    /// Writes documents, records and the new token.
    private func readHistory(
        _ fetching: ApplyRemote, changed: ReadHistory.ChangedDocuments
    ) async throws {
        try await ReadHistory(context: context, applyRemote: fetching).run(changed: changed)
    }

    /// Fetches the documents that are stale or whose attempt has no known answer.
    ///
    /// After each commit the app's handler resolves the conflicts that it found
    /// (``ResolveConflicts``). Documents that exchanged unique values across batches follow last.
    private func fetchStale(_ fetching: ApplyRemote) async throws {
        try await fetching.applyStale()
        try await fetching.applyPostponed()
    }
}

// MARK: - Steps of a push

extension CollectionPass {
    /// Uploads the pending changes.
    ///
    /// Writes an attempt for each before it is sent, then settles each answer. Documents that
    /// another client changed first are fetched.
    private func upload(before set: Int64?, _ fetching: ApplyRemote) async throws {
        try await Upload(context: context, applyRemote: fetching).run(before: set)
        try await fetching.applyPostponed()
        if context.findings.hasAbsences {
            try await ExplainMissing(context: context, applyRemote: fetching).run()
        }
    }

    /// Adopts the identity of a remote collection that the first upload created, and returns what
    /// is known of the identity now.
    private func adoptCreated(
        _ identity: CheckIdentity.Finding
    ) async throws -> CheckIdentity.Finding {
        guard identity.isUncreated, context.findings.report.uploaded > 0,
            try await CheckIdentity(context: context).adoptCreated()
        else { return identity }
        var adopted = identity
        adopted.isUncreated = false
        return adopted
    }

    /// Clears the column `subscribed` once no subscription set includes the collection and no
    /// document is left that only a query requested.
    private func endSubscriptions() async throws {
        let sets = context.engine.sets
        let hasEnded = try context.snapshot { snapshot in
            guard snapshot.collection.isSubscribed else { return false }
            let stored = SubscriptionTable(connection: snapshot.transaction.connection, cache: sets)
            return try !stored.hasSubscription(on: context.namespace)
                && snapshot.records.page(of: .onlyByQuery, in: snapshot.collection.rowID, limit: 1)
                    .isEmpty
        }
        guard hasEnded else { return }
        try await context.write { try DeviceDocuments(sync: $0).endSubscribedStateIfUnused() }
    }
}

// MARK: - The documents of a subscription set

extension CollectionPass {
    /// The result of staging a page of a subscription set's documents.
    enum StagedPage {
        /// The page, or the remote's refusal of the query, is stored; the next page begins here and
        /// may be there already.
        case staged(next: SubscriptionTable.Progress, ahead: StageDocuments.PageAhead?)
        /// The remote failed; a later pass continues.
        case failed
    }

    /// Stages a page of the results of a set's new queries, and the position after it.
    ///
    /// - Parameters:
    ///   - version: the version of the subscription set that has the queries.
    ///   - ahead: the page that was asked for ahead, if one was.
    mutating func stagePage(
        of queries: [SubscriptionQuery], from progress: SubscriptionTable.Progress,
        set version: Int64, _ ahead: StageDocuments.PageAhead?
    ) async throws -> StagedPage {
        let page = try await context.reportingFailure { () -> StagedPage in
            let (next, ahead) = try await StageDocuments(context: context).stagePage(
                of: queries, from: progress, set: version, ahead)
            return .staged(next: next, ahead: ahead)
        }
        if page == nil { state = .failed }
        return page ?? .failed
    }
}

// MARK: - Failures

extension RemoteError {
    /// Returns the error of a collection whose pass ended with this one.
    func syncError(in namespace: Namespace) -> SyncError {
        if errorClass == .rejected, code == StoreError.Code.unauthorized.rawValue {
            return SyncError(
                .notAuthorized,
                "the user has no privilege to read \(namespace) at the remote; a role such as "
                    + "readWrite on \"\(namespace.database)\" gives it (the remote: "
                    + "\(String(description.prefix(120))))",
                namespace: namespace, underlying: self)
        }
        return SyncError(
            errorClass == .unauthenticated ? .authRequired : .remoteUnavailable, description,
            namespace: namespace, underlying: self)
    }
}

extension PassContext {
    /// Runs steps and returns their result; `nil` if they failed for this collection alone, which
    /// the findings then report.
    ///
    /// Three errors fail one collection: a ``CollectionStoppedError``, an ``EngineOfflineError``
    /// and a `RemoteError`.
    ///
    /// It is not inlined, since Swift 6.3's optimizer crashes on the inlined form.
    ///
    /// - Throws: every other error, which ends the whole pass: those of the store, and
    ///   `CancellationError`.
    @inline(never)
    fileprivate func reportingFailure<R>(_ steps: () async throws -> R) async throws -> R? {
        do {
            try Task.checkCancellation()
            let result = try await steps()
            engine.failures.forget([LastingFailures.Subject(namespace: namespace)])
            return result
        } catch let stopped as CollectionStoppedError {
            report(stopped.stop)
            findings.noteCut()
            return nil
        } catch is EngineOfflineError {
            // For the report only: the app went offline on purpose.
            findings.addToReport(.offline)
            return nil
        } catch let error as RemoteError {
            try Task.checkCancellation()
            let syncError = error.syncError(in: namespace)
            findings.add(syncError)
            let subject = LastingFailures.Subject(namespace: namespace)
            if engine.failures.isRefusal(error, of: [subject]) {
                findings.noteRefusal(error)
                if engine.failures.isLasting(subject) { findings.noteCut() }
            }
            if syncError.code == .notAuthorized { findings.count { $0.unreadable = [namespace] } }
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
            findings.addToReport(stop.code)
        } else {
            findings.add(stop.error(in: namespace))
        }
    }
}
