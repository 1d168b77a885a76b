internal import BSONStore

/// Looks at the remote edition of documents and takes in what is new.
extension CollectionPass {
    /// Looks at every document that a hint or an open attempt names, in batches.
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
            #if ENGINE_VARIANTS
                if EngineVariant.failedReadForgotten.isOn {
                    try await write { sync in
                        for row in batch.compactMap(\.rowID) {
                            try sync.records.setStale(row: row, to: 0)
                        }
                    }
                }
            #endif
            try await look(at: batch)
        }
    }

    /// Looks at ids that are wanted and have no record yet, in batches.
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
            // What one answer does not hold stays in the row, and a row that is gone gives its number
            // to the next one.
            if let before, before.row == next.row, before.ids == next.ids {
                last = next.row
                continue
            }
            before = next
            guard next.ids.count <= limits.batchDocuments else {
                // They were noted down under another limit.
                return try await write(expanding: true) { _ in }
            }
            let (looks, rest) = try await looks(at: next.records)
            try await takeIn(looks, then: .begin(next, rest: rest.map(\.documentID)))
        }
    }

    /// Looks at some documents: asks, decides and commits, then lets the app resolve conflicts.
    ///
    /// - Parameters:
    ///   - sequel: what is stored with the last of them.
    ///   - told: what the history just told of documents, by their keys.
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

    /// Settles looks, and once more those at documents that had no version, when they have one.
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

    /// Looks at as many of some documents as one answer may hold, which is one at least; the rest is
    /// to be looked at later.
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
        progress { $0.downloadedBytes += byteCount }
        return (looks, rest)
    }

    /// Asks for documents; the answer has one for each.
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

    /// An attempt that the history tells of may have landed after the look at its document, which
    /// then shows less than what is to become the base.
    private mutating func lookAgain(
        _ looks: inout [FetchedDocument], where evidence: [OperationID: AttemptEvidence]
    ) async throws {
        let late = looks.indices.filter { index in
            looks[index].record.attempt.map { evidence[$0.operation] == .inHistory } ?? false
        }
        #if ENGINE_VARIANTS
            if EngineVariant.lookOlderThanEvidence.isOn { return }
        #endif
        guard !late.isEmpty else { return }
        let lookups = try await find(late.map { looks[$0].record.documentID })
        for (index, lookup) in zip(late, lookups) { looks[index].read(lookup) }
    }

    /// Decides and commits; returns the documents to claim and look at again.
    private mutating func settle(
        _ looks: [FetchedDocument], mayClaim: Bool, then sequel: FirstCommitExtras = .nothing
    ) async throws -> [SyncRecord] {
        var looks = looks
        let evidence = try await evidence(for: looks)
        try await lookAgain(&looks, where: evidence)
        let aside = isStaging ? try aside(looks) : []
        let settled = try await commit(
            looks, evidence: evidence, mayClaim: mayClaim, then: sequel)
        countFetched(looks, settled, evidence, aside: aside)
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

    /// Settles all looks in one transaction; where a document stands in the way of that, each in a
    /// savepoint of its own (rule R8), which costs a copy of every page that is written.
    private func commit(
        _ looks: [FetchedDocument], evidence: [OperationID: AttemptEvidence], mayClaim: Bool,
        then sequel: FirstCommitExtras
    ) async throws -> [SyncTransaction.SettlementOutcome] {
        let answer =
            engine.probe.conflictFound == nil ? configuration.conflictHandler?.always : nil
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

    /// Gives unversioned documents a version, where they still have none (rule R6).
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
        #if ENGINE_VARIANTS
            if EngineVariant.unguardedClaim.isOn { return try await claimAnyway(writes) }
        #endif
        let outcomes = try await request { remote in try await remote.write(writes) }
        // What was refused will be again: no reason for another pass at once.
        report.overtaken += outcomes.count { [.applied, .notMatched].contains($0) }
    }
}

#if ENGINE_VARIANTS
    extension CollectionPass {
        /// The wrong claim: whatever version is there by now is overwritten.
        private mutating func claimAnyway(_ claims: [RemoteWrite]) async throws {
            let found = try await find(claims.map(\.documentID))
            let writes = zip(claims, found).map { claim, lookup in
                let now = if case .found(let document) = lookup { document } else { BSONDocument() }
                return RemoteWrite(
                    documentID: claim.documentID, operation: claim.operation,
                    action: claim.action, condition: .init(version: VersionField(of: now)))
            }
            _ = try await request { remote in try await remote.write(writes) }
        }
    }
#endif

// MARK: - Evidence

extension CollectionPass {
    /// Finds out what became of open attempts: from the documents, else from the history (rule R3).
    private mutating func evidence(
        for looks: [FetchedDocument]
    ) async throws -> [OperationID: AttemptEvidence] {
        var evidence: [OperationID: AttemptEvidence] = [:]
        // Lists, not a dictionary, so that the same requests are made in the same order.
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
    /// The remote edition is the attempt's own; for a delete, that there is none, and not only none
    /// that the user may see; where the remote does not tell its identity, only the history says so.
    fileprivate func isOnTop(of look: FetchedDocument, isIdentityKnown: Bool) -> Bool {
        guard let remote = look.remote else {
            return isDelete && look.isAbsent && isIdentityKnown
        }
        guard let version = VersionField(of: remote).version else { return false }
        #if ENGINE_VARIANTS
            if EngineVariant.lineageInsteadOfName.isOn {
                return version.lineage == self.version.version?.lineage
                    && version.counter == self.version.version?.counter
            }
        #endif
        return version.operation == operation.value
    }
}
