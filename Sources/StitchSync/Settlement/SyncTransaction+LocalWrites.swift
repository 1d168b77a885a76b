internal import BSONStore

/// Notes what the app wrote: record and event change in the transaction of the document (rule R2).
extension SyncTransaction {
    /// Notes one document's change, and takes a version field out that the app wrote.
    ///
    /// - Throws: `SyncError` of code `.documentTooLarge` when no version fits beside it, `.writeRefused`
    ///   when the collection is strict.
    func noteLocalWrite(before: BSONDocument?, after written: BSONDocument?) throws {
        let after = written?.withoutVersion
        let id = (after ?? before)?.documentID ?? .null
        if let after, after.byteCount != written?.byteCount { try setLocal(to: after) }
        var record = try record(id)
        // A row that went missing confirms nothing: what is written in its place is new.
        if before == nil, var missing = record {
            if missing.base == .sameAsLocal { (missing.base, missing.version) = (.absent, .absent) }
            // Nor does it tell what was sent: should that have landed, it is another's edition now.
            if missing.attempt?.intended == .sameAsLocal { missing.attempt = nil }
            record = missing
        }
        // What the remote confirmed has had room for its version there.
        if let after, after.byteCount > BSONLimits().documentBytesMax - Self.versionReserve,
            !contentEqual(record?.base.document(local: before), after)
        {
            throw SyncError(
                .documentTooLarge,
                "a document of \(after.byteCount) bytes leaves no room for its version: at most "
                    + "\(BSONLimits().documentBytesMax - Self.versionReserve) fit",
                namespace: namespace, documentID: id)
        }
        if strict != nil, !contentEqual(before, after) {
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
            mayLandLate: record?.discarded.isEmpty == false,
            isPaused: record?.pause != nil)
    }

    private func apply(
        _ decision: LocalWriteDecision, to old: SyncRecord, before: BSONDocument?,
        after: BSONDocument?
    ) throws {
        var record = old
        record.keepApart(from: before)
        record.isDeletedHere = after == nil
        switch decision {
        case .nothing: return
        case .forget:
            try leave(record, local: before)
        case .begin, .markPending:
            record.isPending = true
            // What is written where subscriptions ask is theirs; elsewhere its id keeps it in step.
            if decision == .begin { record.isClaimedByID = try !membership.isAsked }
            try save(record)
        case .clearPending:
            record.isPending = false
            record.base = StoredContent(record.base.document(local: before), local: after)
            // What the remote holds was not taken while the change was queued.
            if case .foreign = record.version { record.hint = try nextStaleMark() }
            try markStaleIfUnclaimed(&record, local: after)
            try save(record)
        case .resumePending, .resumeClean:
            record.pause = nil
            record.failures = 0
            record.hint = try renewedStaleMark(of: record)
            record.isPending = decision == .resumePending
            if !record.isPending {
                record.base = StoredContent(record.base.document(local: before), local: after)
            }
            try save(record)
        }
        let isPending = decision != .forget && record.isPending
        try emitChange(
            .local, record.documentID, from: before, to: after, uncommitted: isPending)
    }
}

extension SyncRecord {
    /// Stores base and attempt apart from a local document that is about to change.
    mutating func keepApart(from local: BSONDocument?) {
        if base == .sameAsLocal, let local { base = .stored(local) }
        if attempt?.intended == .sameAsLocal, let local { attempt?.intended = .stored(local) }
    }
}

/// Whether two documents hold the same content, field order apart; both absent counts as equal.
func contentEqual(_ left: BSONDocument?, _ right: BSONDocument?) -> Bool {
    switch (left, right) {
    case (nil, nil): true
    case (let left?, let right?): left.contentEquals(right)
    case (nil, _), (_, nil): false
    }
}
