internal import BSONStore

/// The search for the reason why documents are missing at the remote: only evidence of a delete
/// removes the local document (decision 7).
extension CollectionPass {
    /// Settles the documents that a fetch found missing without evidence of a delete.
    ///
    /// First it continues to read the history, since a delete may lie between the last read and the
    /// fetch. Then it requests tombstones. Documents without evidence are kept as unexplained.
    mutating func explainMissing() async throws {
        let collection = try read { $1 }
        guard !missing.isEmpty else {
            if collection.lostToken != nil { try await updateCollection { $0.lostToken = nil } }
            return
        }
        // Two fetches of one pass may have missed the same document.
        var keys: Set<[UInt8]> = []
        let ids = missing.filter { keys.insert(BSONKey.encode($0)).inserted }
        missing = []
        if let token = collection.token, !collection.needsScan {
            do {
                try await readChanges(after: token, looking: false)
            } catch let error as RemoteError where error.endsHistory {
                // The changes in between are unknown; the next pass compares everything.
            }
        }
        let open = try snapshot { snapshot in
            try ids.compactMap(snapshot.record).filter {
                $0.isMissing && AbsenceCause(hint: $0.hint) != .deleted
            }
        }
        let deleted = try await deletedByEvidence(
            open, since: collection.lostToken ?? collection.token)
        let removes = configuration.unexplained.removesAll
        let count = try await write { sync in
            let marked = try open.count { record in
                let isDeleted = removes || deleted.contains(BSONKey.encode(record.documentID))
                return try sync.explain(record, isDeleted: isDeleted)
            }
            var collection = sync.collection
            collection.lostToken = nil
            try sync.state.save(collection)
            return marked
        }
        try await look(at: try snapshot { try ids.compactMap($0.record).filter { $0.hint > 0 } })
        guard count > 0 else { return }
        report.unexplained += count
        try await reportUnexplained()
    }

    /// Returns the keys of documents for which the remote has a tombstone.
    mutating func deletedByEvidence(
        _ records: [SyncRecord], since place: ResumeToken?
    ) async throws -> Set<[UInt8]> {
        guard !records.isEmpty else { return [] }
        let limit = limits.batchDocuments
        var deleted: Set<[UInt8]> = []
        for start in stride(from: 0, to: records.count, by: limit) {
            let chunk = records[start..<min(start + limit, records.count)]
            let ids = chunk.map(\.documentID)
            let found = try await request { remote in
                try await remote.tombstones(ids: ids, since: place)
            }
            try Self.check(found.count, for: ids.count)
            for (record, tombstone) in zip(chunk, found)
            where tombstone?.proves(deletionOf: record) ?? false {
                deleted.insert(BSONKey.encode(record.documentID))
            }
        }
        return deleted
    }

    /// Reports the unexplained documents once and calls the app's closure where the policy has one.
    private mutating func reportUnexplained() async throws {
        let ids = try read { records, collection in
            try records.documentIDs(.unexplained, in: collection.rowID)
        }
        guard !ids.isEmpty else { return }
        errors.append(
            SyncError(
                .unexplainedAbsence,
                "\(ids.count) document\(ids.count == 1 ? " is" : "s are") missing at the remote, and "
                    + "nothing says that somebody deleted them: they are kept here and not sent; "
                    + "unexplainedIDs lists them, resolveUnexplained(_:) removes or uploads them",
                namespace: namespace))
        guard let ask = configuration.unexplained.ask else { return }
        let absence = UnexplainedAbsence(namespace: namespace, documentIDs: ids)
        do {
            let answer = try await withTimeout(limits.handlerTimeout, clock: engine.clock) {
                try await ask(absence)
            }
            _ = try await write { try $0.resolveUnexplained(answer, among: ids) }
        } catch {
            try Task.checkCancellation()
            errors.append(
                SyncError(
                    error is TimeoutError ? .handlerTimeout : .handlerFailed,
                    "asking about missing documents failed, they stay: \(error)",
                    namespace: namespace, underlying: error))
        }
    }
}

extension SyncTransaction {
    /// Notes the reason why a document is missing.
    ///
    /// - Returns: whether the document is unexplained now.
    fileprivate func explain(_ old: SyncRecord, isDeleted: Bool) throws -> Bool {
        guard var record = try record(old.documentID), record.isSame(as: old), record.isMissing
        else { return false }
        guard !isDeleted, AbsenceCause(hint: record.hint) != .deleted else {
            try hint(record, .deleted)
            return false
        }
        record.pause = .unexplainedAbsence
        record.hint = 0
        try save(record)
        return true
    }

    /// Ends the pause of an unexplained document after news about it.
    func liftUnexplained(_ record: SyncRecord, _ told: AbsenceCause? = nil) throws {
        var record = record
        record.pause = nil
        try hint(try save(record), told)
    }

    /// Applies the app's decision to unexplained documents; others do not change.
    ///
    /// - Returns: the number of these documents.
    @discardableResult
    func resolveUnexplained(
        _ answer: UnexplainedAnswer, among ids: [BSONValue]
    ) throws -> Int {
        var count = 0
        for id in ids {
            guard var record = try record(id), record.isUnexplained else { continue }
            count += 1
            switch answer {
            case .keep: continue
            case .remove: try liftUnexplained(record, .deleted)
            case .upload:
                try clearBase(of: &record)
                record.pause = nil
                record.hint = try nextStaleMark()
                try save(record)
            }
        }
        return count
    }

    /// Makes the local document one that no remote has confirmed.
    func clearBase(of record: inout SyncRecord) throws {
        let hasLocal = try local(record.documentID) != nil
        record.attempt = nil
        record.clearUnresolved()
        record.failures = 0
        (record.base, record.version, record.isPending) = (.absent, .absent, hasLocal)
    }
}

extension SyncRecord {
    /// Whether a fetch found the confirmed document missing for a reason that is not settled.
    fileprivate var isMissing: Bool {
        base != .absent && !isPending && attempt == nil && pause == nil && hint > 0
    }
}

extension RemoteTombstone {
    /// Whether the tombstone proves the delete of a record's confirmed edition or a later one.
    ///
    /// Where the remote's file was restored, a tombstone may be older than the confirmed edition;
    /// then only a tombstone of the same lineage is proof.
    func proves(deletionOf record: SyncRecord) -> Bool {
        if isAfterPlace { return true }
        guard let ours = record.version.version, let deleted = version.version else {
            return version == record.version
        }
        return ours.lineage.utf8.elementsEqual(deleted.lineage.utf8)
            && deleted.counter >= ours.counter
    }
}

extension PauseReason {
    /// The reason of an unexplained document; constant, so that SQL can search for its bytes.
    static let unexplainedAbsence = PauseReason(
        .unexplainedAbsence,
        "the document is missing at the remote, and nothing says that somebody deleted it")
}
