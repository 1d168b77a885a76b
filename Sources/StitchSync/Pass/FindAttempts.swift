internal import BSONStore

/// The search for open attempts, in the documents, else in the remote's history (rule R3).
struct FindAttempts {
    let context: PassContext
    /// Whether the remote reported its identity in this pass.
    let isIdentityKnown: Bool

    /// Returns the evidence about open attempts.
    func evidence(
        for fetchedDocuments: [FetchedDocument]
    ) async throws -> [OperationID: AttemptEvidence] {
        var evidence: [OperationID: AttemptEvidence] = [:]
        // Lists, not a dictionary, keep the order of requests deterministic.
        var unsettled: [(token: ResumeToken, records: [SyncRecord])] = []
        for fetched in fetchedDocuments {
            guard let attempt = fetched.record.attempt else { continue }
            if attempt.isOnTop(of: fetched, isIdentityKnown: isIdentityKnown) {
                evidence[attempt.operation] = .onTop
            } else if let token = attempt.token {
                if let index = unsettled.lastIndex(where: { $0.token == token }) {
                    unsettled[index].records.append(fetched.record)
                } else {
                    unsettled.append((token, [fetched.record]))
                }
            }
        }
        for (token, records) in unsettled {
            for (operation, found) in try await history(after: token, of: records) {
                evidence[operation] = found
            }
        }
        return evidence
    }

    /// Reads the history since attempts were stored, once for all attempts stored together.
    ///
    /// It begins an era of the echoes: an operation that the search misses may still arrive, and then
    /// only its event shows it.
    private func history(
        after start: ResumeToken, of records: [SyncRecord]
    ) async throws -> [OperationID: AttemptEvidence] {
        context.engine.echoes.beginEra()
        var found: Set<OperationID> = []
        var unknownDeletes: Set<[UInt8]> = []
        var isWhole = true
        var token = start
        let limit = context.limits.changesPerRead
        var hasMore = true
        var budget = PageBudget(changesPerPage: limit)
        while hasMore {
            let after = token
            let batch: RemoteChangeBatch
            do {
                batch = try await context.request { remote in
                    try await remote.changes(after: after, limit: limit, waitingUpTo: .zero)
                }
            } catch let error as RemoteError where error.endsHistory {
                isWhole = false
                break
            }
            found.formUnion(batch.changes.compactMap(\.operation))
            for change in batch.changes where change.isDelete && change.operation == nil {
                unknownDeletes.insert(BSONKey.encode(change.documentID))
            }
            hasMore = batch.hasMore && batch.token != token
            token = batch.token
            if hasMore, !budget.mayGoOn(after: batch) {
                // The next pass would begin here again: a history that is too long is as good as lost.
                isWhole = false
                break
            }
        }
        var evidence: [OperationID: AttemptEvidence] = [:]
        for record in records {
            guard let attempt = record.attempt else { continue }
            let key = BSONKey.encode(record.documentID)
            let isUnclear = !isWhole || attempt.isDelete && unknownDeletes.contains(key)
            evidence[attempt.operation] =
                found.contains(attempt.operation)
                ? .inHistory : isUnclear ? .historyLost : .notInHistory
        }
        return evidence
    }
}

extension Attempt {
    /// Whether the remote edition is the attempt's own.
    ///
    /// For a delete, the document must be absent, not just hidden, and the remote's identity known;
    /// otherwise only the history is evidence.
    fileprivate func isOnTop(of fetched: FetchedDocument, isIdentityKnown: Bool) -> Bool {
        guard let remote = fetched.remote else {
            return isDelete && fetched.isAbsent && isIdentityKnown
        }
        guard let version = VersionField(of: remote).version else { return false }
        return version.operation == operation.value
    }
}
