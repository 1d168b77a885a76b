internal import BSONStore

/// The fetch of remote editions and the storage of new ones.
extension CollectionPass {
    /// Fetches every document that is stale or has an open attempt, in batches.
    mutating func fetchStale() async throws {
        var last: Int64 = 0
        let limits = limits
        while true {
            let after = last
            let batch = try read { records, collection in
                try records.records(
                    .toLook, in: collection.rowID, after: after, limit: limits.batchDocuments,
                    bytesMax: limits.batchBytes)
            }
            guard let row = batch.last?.rowID else { return }
            last = row
            try await look(at: batch)
        }
    }

    /// Fetches wanted ids that have no record yet, in batches.
    mutating func fetchWanted() async throws {
        var last: Int64 = 0
        var before: WantedIDs?
        while true {
            let after = last
            let next = try read { records, collection in
                collection.hasWantedIDs
                    ? try records.wanted(in: collection.rowID, after: after, limit: 1).first : nil
            }
            guard let next else { return }
            // Ids that did not fit into one answer stay in the row, and a new row may reuse the
            // number of a removed one.
            if let before, before.row == next.row, before.ids == next.ids {
                last = next.row
                continue
            }
            before = next
            guard next.ids.count <= limits.batchDocuments else {
                // The ids were stored under another limit.
                return try await write(expanding: true) { _ in }
            }
            let (looks, rest) = try await looks(at: next.records)
            try await takeIn(looks, then: .begin(next, rest: rest.map(\.documentID)))
        }
    }

    /// Fetches documents, decides and commits, then lets the app resolve conflicts.
    ///
    /// - Parameters:
    ///   - sequel: the data that the last commit stores in addition.
    ///   - told: the causes of absence that the history just reported, by the documents' keys.
    mutating func look(
        at batch: [SyncRecord], then sequel: FirstCommitExtras = .nothing,
        told: [[UInt8]: AbsenceCause] = [:]
    ) async throws {
        var open = batch
        while !open.isEmpty {
            let (looks, rest) = try await looks(at: open, told: told)
            try await takeIn(looks, then: rest.isEmpty ? sequel : .nothing, told: told)
            open = rest
        }
    }

    /// Settles fetched documents, and those without a version again after they got one.
    private mutating func takeIn(
        _ looks: [FetchedDocument], then sequel: FirstCommitExtras,
        told: [[UInt8]: AbsenceCause] = [:]
    ) async throws {
        var claims = try await settle(looks, mayClaim: true, then: sequel)
        try await claim(claims)
        while !claims.isEmpty {
            let (looks, rest) = try await self.looks(at: claims, told: told)
            _ = try await settle(looks, mayClaim: false)
            claims = rest
        }
    }

    /// Fetches as many documents as fit into one answer, at least one; returns the rest for later.
    private mutating func looks(
        at batch: [SyncRecord], told: [[UInt8]: AbsenceCause] = [:]
    ) async throws -> (looks: [FetchedDocument], rest: [SyncRecord]) {
        let (ids, bytesMax) = (batch.map(\.documentID), limits.batchBytes)
        let lookups = try await request { remote in
            try await remote.find(ids: ids, bytesMax: bytesMax)
        }
        try Self.check(lookups.count, for: ids.count)
        var (looks, rest): ([FetchedDocument], [SyncRecord]) = ([], [])
        looks.reserveCapacity(batch.count)
        var byteCount = 0
        for (record, lookup) in zip(batch, lookups) {
            guard let lookup else {
                rest.append(record)
                continue
            }
            if case .found(let document) = lookup { byteCount += document.byteCount }
            looks.append(FetchedDocument(record, lookup, told))
        }
        guard !looks.isEmpty else {
            throw RemoteError(.retryable, "asked for \(ids.count) documents, none was looked up")
        }
        report.looked += looks.count
        engine.progress.count { $0.downloadedBytes += byteCount }
        return (looks, rest)
    }

    /// Fetches documents; returns one answer for each.
    mutating func find(_ ids: [BSONValue]) async throws -> [RemoteLookup] {
        let lookups = try await request { remote in
            try await remote.find(ids: ids)
        }
        try Self.check(lookups.count, for: ids.count)
        return lookups
    }

    static func check(_ answers: Int, for ids: Int) throws(RemoteError) {
        guard answers == ids else {
            throw RemoteError(.retryable, "asked for \(ids) documents, got \(answers) answers")
        }
    }

    /// Fetches documents again whose attempt the history contains: the remote may have applied the
    /// attempt after the first fetch, which then shows an edition older than the new base.
    private mutating func lookAgain(
        _ looks: inout [FetchedDocument], where evidence: [OperationID: AttemptEvidence]
    ) async throws {
        let late = looks.indices.filter { index in
            looks[index].record.attempt.map { evidence[$0.operation] == .inHistory } ?? false
        }
        guard !late.isEmpty else { return }
        let lookups = try await find(late.map { looks[$0].record.documentID })
        for (index, lookup) in zip(late, lookups) { looks[index].read(lookup) }
    }

    /// Decides and commits; returns the documents to give a version and fetch again.
    private mutating func settle(
        _ looks: [FetchedDocument], mayClaim: Bool, then sequel: FirstCommitExtras = .nothing
    ) async throws -> [SyncRecord] {
        var looks = looks
        let evidence = try await evidence(for: looks)
        try await lookAgain(&looks, where: evidence)
        let aside = isStaging ? try aside(looks) : []
        let settled = try await commit(
            looks, evidence: evidence, mayClaim: mayClaim, then: sequel)
        engine.progress.countFetched(looks, settled, evidence, aside: aside, in: namespace)
        let always = configuration.conflictHandler?.always
        var conflicts: [OpenConflict] = []
        var claims: [SyncRecord] = []
        for (look, outcome) in zip(looks, settled) {
            switch outcome {
            case .nothing: break
            case .taken: report.taken += 1
            case .removed: report.removed += 1
            case .renewed(let error):
                report.taken += look.isAbsent ? 0 : 1
                errors.append(error)
            case .missing: missing.append(look.record.documentID)
            case .evicted: report.evicted += 1
            case .refused(let refused):
                report.evicted += refused.settlement == .revertRejected ? 1 : 0
                count(refused.settlement, refused.documentID, .failed(refused.error))
            case .foreign: errors.append(look.foreignVersion(in: namespace))
            case .claim(let record): claims.append(record)
            case .conflict(let conflict): conflicts.append(conflict)
            case .answered(let committed, let conflict):
                report.conflicts += 1
                count(committed, look.record)
                note(conflict, committed, always)
            case .failed(let error):
                report.paused += 1
                errors.append(error)
            }
        }
        try await resolve(conflicts)
        if !conflicts.isEmpty { try removeFinishedWaits() }
        return claims
    }

    /// Settles all fetched documents in one transaction.
    ///
    /// If one of them fails, each gets a savepoint of its own (rule R8), which costs a copy of
    /// every written page.
    private func commit(
        _ looks: [FetchedDocument], evidence: [OperationID: AttemptEvidence], mayClaim: Bool,
        then sequel: FirstCommitExtras
    ) async throws -> [SyncTransaction.SettlementOutcome] {
        let answer =
            engine.conflictFound == nil ? configuration.conflictHandler?.always : nil
        let wishes = SettlementPolicy(
            terms: terms, counting: configuration.conflictHandler?.counting)
        func settle(trusting: Bool) async throws -> [SyncTransaction.SettlementOutcome] {
            try await write { sync in
                var sync = sync
                (sync.trusts, sync.wishes) = (trusting, wishes)
                return try sync.settle(
                    looks, evidence: evidence, mayClaim: mayClaim, answer: answer, then: sequel)
            }
        }
        do {
            do {
                return try await settle(trusting: true)
            } catch is SyncRecordTable.StaleRevision {
                return try await settle(trusting: false)
            }
        } catch let cause where SyncTransaction.concernsDocument(cause) {
            return try await write { sync in
                var sync = sync
                sync.wishes = wishes
                guard try sync.begin(sequel) else { return looks.map { _ in .nothing } }
                let settled = try sync.settleIndividually(
                    looks, evidence: evidence, mayClaim: mayClaim)
                try sync.end(sequel)
                return settled
            }
        }
    }

    /// Adds a version to documents that still have none (rule R6).
    mutating func claim(_ records: [SyncRecord]) async throws {
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
        let outcomes = try await request { remote in try await remote.write(writes) }
        // Refused writes would be refused again, so they do not count as work for another pass.
        report.overtaken += outcomes.count { [.applied, .notMatched].contains($0) }
    }
}

// MARK: - Evidence

extension CollectionPass {
    /// Returns the evidence about open attempts, from the documents, else from the history (rule
    /// R3).
    private mutating func evidence(
        for looks: [FetchedDocument]
    ) async throws -> [OperationID: AttemptEvidence] {
        var evidence: [OperationID: AttemptEvidence] = [:]
        // Lists, not a dictionary, keep the order of requests deterministic.
        var unsettled: [(token: ResumeToken, records: [SyncRecord])] = []
        for look in looks {
            guard let attempt = look.record.attempt else { continue }
            if attempt.isOnTop(of: look, isIdentityKnown: isIdentityKnown) {
                evidence[attempt.operation] = .onTop
            } else if let token = attempt.token {
                if let index = unsettled.lastIndex(where: { $0.token == token }) {
                    unsettled[index].records.append(look.record)
                } else {
                    unsettled.append((token, [look.record]))
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
}

extension Attempt {
    /// Whether the remote edition is the attempt's own.
    ///
    /// For a delete, the document must be absent, not just hidden, and the remote's identity known;
    /// otherwise only the history is evidence.
    fileprivate func isOnTop(of look: FetchedDocument, isIdentityKnown: Bool) -> Bool {
        guard let remote = look.remote else {
            return isDelete && look.isAbsent && isIdentityKnown
        }
        guard let version = VersionField(of: remote).version else { return false }
        return version.operation == operation.value
    }
}
