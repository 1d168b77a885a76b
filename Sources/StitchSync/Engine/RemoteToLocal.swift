internal import BSONStore

/// Looks at the remote edition of documents and takes in what is new.
extension CollectionPass {
    /// Looks at every document that a hint or an open attempt names, in batches.
    mutating func lookAtHinted() async throws {
        var last: Int64 = 0
        let limit = limits.batchDocuments
        while true {
            let after = last
            let batch = try await write { sync in
                try sync.records.records(
                    .toLook, in: sync.collection.rowID, after: after, limit: limit)
            }
            guard let row = batch.last?.rowID else { return }
            last = row
            try await look(at: batch)
        }
    }

    /// Looks at some documents: asks, decides and commits, then lets the app resolve conflicts.
    mutating func look(at batch: [SyncedDocument]) async throws {
        var open = batch
        var mayClaim = true
        while !open.isEmpty {
            let ids = open.map(\.documentID)
            let lookups = try await request { remote throws(RemoteError) in
                try await remote.find(ids: ids)
            }
            guard lookups.count == ids.count else {
                throw RemoteError(
                    .retryable, "asked for \(ids.count) documents, got \(lookups.count) answers")
            }
            report.looked += ids.count
            let seen = zip(open, lookups).map(Look.init)
            let evidence = try await evidence(for: seen)
            let claims = try await settle(seen, evidence: evidence, mayClaim: mayClaim)
            try await claim(claims)
            open = claims
            mayClaim = false
        }
    }

    /// A record as it was when the remote was asked, with the answer.
    struct Look: Sendable {
        let record: SyncedDocument
        let lookup: RemoteLookup

        var remote: BSONDocument? {
            if case .found(let document) = lookup { document } else { nil }
        }
    }

    /// Decides and commits; returns the documents to claim and look at again.
    private mutating func settle(
        _ looks: [Look], evidence: [OperationID: AttemptEvidence], mayClaim: Bool
    ) async throws -> [SyncedDocument] {
        let settled = try await write { sync in
            try looks.map { look in
                try sync.settle(look, evidence: evidence, mayClaim: mayClaim)
            }
        }
        var claims: [SyncedDocument] = []
        for (look, outcome) in zip(looks, settled) {
            switch outcome {
            case .nothing: break
            case .taken: report.taken += 1
            case .removed: report.removed += 1
            case .foreign: reportForeign(look.record.documentID)
            case .claim: claims.append(look.record)
            case .conflict(let conflict): try await resolve(conflict)
            }
        }
        return claims
    }

    private mutating func reportForeign(_ id: BSONValue) {
        errors.append(
            SyncError(
                .foreignVersion, "its version field is not one that we understand",
                namespace: namespace, documentID: id))
    }

    /// Gives unversioned documents a version, where they still have none (rule R6).
    private mutating func claim(_ records: [SyncedDocument]) async throws {
        guard !records.isEmpty else { return }
        let operations = try await write { try $0.state.nextOperations(records.count) }
        let writes = zip(records, operations).map { record, operation in
            let version = DocumentVersion.first(operation: operation)
            return RemoteWrite(
                documentID: record.documentID, operation: operation,
                action: .update(
                    set: [DocumentVersion.fieldName: .document(version.document)], unset: []),
                condition: RemoteWrite.Condition(version: .absent))
        }
        _ = try await request { remote throws(RemoteError) in try await remote.write(writes) }
    }
}

// MARK: - Evidence

extension CollectionPass {
    /// Finds out what became of open attempts: from the documents, else from the history (rule R3).
    private mutating func evidence(
        for looks: [Look]
    ) async throws -> [OperationID: AttemptEvidence] {
        var evidence: [OperationID: AttemptEvidence] = [:]
        var unsettled: [Look] = []
        for look in looks {
            guard let attempt = look.record.attempt else { continue }
            if attempt.isOnTop(of: look.remote) {
                evidence[attempt.operation] = .onTop
            } else {
                unsettled.append(look)
            }
        }
        for look in unsettled {
            guard let attempt = look.record.attempt else { continue }
            evidence[attempt.operation] = try await history(of: attempt, look.record.documentID)
        }
        return evidence
    }

    private mutating func history(
        of attempt: Attempt, _ id: BSONValue
    ) async throws -> AttemptEvidence {
        guard var token = attempt.token else { return .historyLost }
        let key = BSONKey.encode(id)
        var unknownDelete = false
        let limit = limits.changesPerRead
        while true {
            let after = token
            let batch: RemoteChangeBatch
            do throws(RemoteError) {
                batch = try await request { remote throws(RemoteError) in
                    try await remote.changes(after: after, limit: limit, waitingUpTo: .zero)
                }
            } catch {
                guard error.errorClass == .historyLost else { throw error }
                return .historyLost
            }
            for change in batch.changes where BSONKey.encode(change.documentID) == key {
                if change.operation == attempt.operation { return .inHistory }
                unknownDelete = unknownDelete || (change.isDelete && change.operation == nil)
            }
            token = batch.token
            guard batch.hasMore else { break }
        }
        return attempt.isDelete && unknownDelete ? .historyLost : .notInHistory
    }
}

extension Attempt {
    /// The remote edition is the attempt's own; for a delete, that there is none.
    fileprivate func isOnTop(of remote: BSONDocument?) -> Bool {
        guard let remote else { return isDelete }
        guard let version = VersionField(of: remote).version else { return false }
        return version.operation == operation.value
    }
}
