internal import BSONStore

/// The sync side of the app's writes: record and event change in the document's transaction (rule
/// R2).
struct NoteLocalWrite {
    let sync: SyncTransaction

    /// Notes one document's change and removes a version field that the app wrote.
    ///
    /// - Throws: `SyncError` of code `.documentTooLarge` when the document leaves no room for its
    ///   version field, `.writeRefused` when the collection is strict.
    func note(before: BSONDocument?, after written: BSONDocument?) throws {
        let after = written?.withoutVersion
        let id = (after ?? before)?.documentID ?? .null
        sync.noteChange(of: id)
        if after == nil {
            try sync.keepReferences(of: id, in: nil)
        } else if before == nil {
            try sync.noteReturn(of: id)
        }
        if let after, after.byteCount != written?.byteCount { try sync.setLocal(to: after) }
        var record = try sync.record(id)
        if before == nil, let lost = record, lost.isContentLost {
            var renewed = lost.withoutLostContent
            try sync.makeStale(&renewed)
            record = renewed
        }
        // A confirmed document had room for its version at the remote.
        if let after,
            after.byteCount > BSONLimits().documentBytesMax - SyncTransaction.versionReserve,
            !contentEqual(record?.base.document(local: before), after)
        {
            throw SyncError(
                .documentTooLarge,
                "a document of \(after.byteCount) bytes leaves no room for its version: at most "
                    + "\(BSONLimits().documentBytesMax - SyncTransaction.versionReserve) fit",
                namespace: sync.namespace, documentID: id)
        }
        if sync.strict != nil, !contentEqual(before, after) {
            try checkStrictly(from: record?.base.document(local: before), to: after)
        }
        let facts = Self.facts(before: before, after: after, record: record)
        try apply(
            LocalWriteDecision.decide(facts), to: record ?? SyncRecord(documentID: id),
            before: before, after: after)
    }

    private static func facts(
        before: BSONDocument?, after: BSONDocument?, record: SyncRecord?
    ) -> LocalWriteFacts {
        let base = record?.base.document(local: before)
        return LocalWriteFacts(
            existedBefore: before != nil, existsAfter: after != nil,
            isUnchanged: contentEqual(before, after), hasRecord: record != nil,
            baseIsAbsent: base == nil, equalsBase: contentEqual(base, after),
            hasOpenAttempt: record?.attempt != nil,
            mayLandLate: record?.unresolved.isEmpty == false,
            isPaused: record?.pause != nil)
    }

    private func apply(
        _ decision: LocalWriteDecision, to old: SyncRecord, before: BSONDocument?,
        after: BSONDocument?
    ) throws {
        var record = old
        record.storeCopies(of: before)
        record.isDeletedHere = after == nil
        switch decision {
        case .nothing: return
        case .forget:
            try DeviceDocuments(sync: sync).removeRecord(record, local: before)
        case .begin, .markPending:
            record.isPending = true
            // Where the collection has subscriptions, they keep the document; elsewhere its id
            // does.
            if decision == .begin {
                record.reason = try sync.membership.isAsked ? .query : .localWrite
            }
            try sync.save(record)
        case .clearPending:
            record.isPending = false
            record.base = StoredContent(record.base.document(local: before), local: after)
            // The remote's edition was not stored while the change was pending.
            if case .foreign = record.version { try sync.makeStale(&record) }
            try DeviceDocuments(sync: sync).markStaleIfUnkept(&record, local: after)
            try sync.save(record)
        case .resumePending, .resumeClean:
            try sync.endPauseAndRefetch(of: &record)
            record.isPending = decision == .resumePending
            if !record.isPending {
                record.base = StoredContent(record.base.document(local: before), local: after)
            }
            try sync.save(record)
        }
        sync.note(
            .written(HistoryEvent.Change(from: before, to: after)), of: record.documentID,
            from: old.version)
        let isPending = decision != .forget && record.isPending
        try sync.emitChange(
            .local, record.documentID, from: before, to: after, uncommitted: isPending)
    }

    /// Checks that the remote may allow a write; a return to the base is always allowed.
    ///
    /// - Throws: `SyncError` of code `.writeRefused`.
    private func checkStrictly(
        from base: BSONDocument?, to after: BSONDocument?
    ) throws(SyncError) {
        guard let strict = sync.strict, !contentEqual(base, after),
            let write = strict.judge(from: base, to: after, in: sync.namespace)
        else { return }
        throw SyncError(
            .writeRefused, write.reason, namespace: sync.namespace, documentID: write.primaryKey,
            underlying: CompensatingWriteError([write]))
    }
}

extension SyncRecord {
    /// Stores copies of base and attempt before the local document changes.
    mutating func storeCopies(of local: BSONDocument?) {
        if base == .sameAsLocal, let local { base = .stored(local) }
        if attempt?.intended == .sameAsLocal, let local { attempt?.intended = .stored(local) }
    }
}

extension SyncRecord {
    /// Whether the record's documents were in the local row, which is missing.
    ///
    /// Unlike ``isRowMissing(local:)`` it concerns the record alone. Where the record has copies, as
    /// after a delete here, a new document in the row is a change like any other.
    fileprivate var isContentLost: Bool {
        base == .sameAsLocal || attempt?.intended == .sameAsLocal
    }

    /// The record of a document that is written after its row went missing; the caller makes it stale.
    ///
    /// The missing row confirms nothing: the written document is a new one. What the remote holds is
    /// fetched again, also where the app takes the new document back.
    fileprivate var withoutLostContent: SyncRecord {
        var record = self
        if base == .sameAsLocal { (record.base, record.version) = (.absent, .absent) }
        // If the remote applied the attempt, it now counts as another client's edition.
        if attempt?.intended == .sameAsLocal { record.attempt = nil }
        return record
    }
}

/// Returns whether two documents have the same content in any order of fields; two absent documents
/// are equal.
func contentEqual(_ left: BSONDocument?, _ right: BSONDocument?) -> Bool {
    switch (left, right) {
    case (nil, nil): true
    case (let left?, let right?): left.contentEquals(right)
    case (nil, _), (_, nil): false
    }
}
