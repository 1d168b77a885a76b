internal import BSONStore

/// The search for open attempts in the remote's history.
extension CollectionPass {
    /// Reads the history since attempts were stored, once for all attempts stored together.
    mutating func history(
        after start: ResumeToken, of records: [SyncRecord]
    ) async throws -> [OperationID: AttemptEvidence] {
        var found: Set<OperationID> = []
        var unknownDeletes: Set<[UInt8]> = []
        var isWhole = true
        var token = start
        let limit = limits.changesPerRead
        var hasMore = true
        var budget = PageBudget(changesPerPage: limit)
        while hasMore {
            let after = token
            let batch: RemoteChangeBatch
            do {
                batch = try await request { remote in
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
            if hasMore { try budget.spend(batch) }
            token = batch.token
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

extension PageBudget {
    /// Notes a page as ``mayGoOn(after:)`` does.
    ///
    /// - Throws: `RemoteError` of class `.retryable` after too many pages.
    mutating func spend(_ batch: RemoteChangeBatch) throws {
        guard !mayGoOn(after: batch) else { return }
        throw RemoteError(
            .retryable,
            "the history does not end: \(pages) pages were read, the last \(empty) of them empty; "
                + "a later pass goes on from there")
    }
}
