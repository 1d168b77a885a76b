internal import BSONStore

extension SyncTransaction {
    /// Whether a document that only a query keeps here belongs here, as a look found it.
    ///
    /// - Parameter local: whether the document is here.
    func membership(
        of record: SyncRecord, isHeld: Bool, _ look: RemoteLookup, _ edition: RemoteEdition
    ) throws -> MembershipDecision {
        let membership = try membership
        #if ENGINE_VARIANTS
            if EngineVariant.evictionOverPending.isOn, isHeld, !record.isClaimedByID,
                edition.document.map(membership.keeps) == false
            {
                return .evict
            }
        #endif
        let isAsked = edition.document.map {
            isHeld ? membership.keeps($0) : membership.asks(for: $0)
        }
        let remote: MembershipFacts.Remote =
            switch look {
            case .found: .there
            case .hidden: .hidden
            case .absent: .deleted
            }
        return MembershipDecision.decide(
            MembershipFacts(
                isHeld: isHeld, hasPendingChange: record.isPending || record.attempt != nil,
                isClaimedByID: record.isClaimedByID, isClaimedByQuery: isAsked ?? false,
                remote: remote))
    }

    /// Takes a document off the device; the remote keeps it.
    func evict(_ record: SyncRecord, isHeld: Bool, _ reason: ChangeReason) throws {
        let id = record.documentID
        let own = try isHeld ? removeLocal(id, as: .evicted) : id
        try records.remove(record)
        try journal.forget(record.documentID, in: collection.rowID)
        #if ENGINE_VARIANTS
            if EngineVariant.evictionWithoutEvent.isOn { return }
        #endif
        if isHeld { try emit(.evict, reason, own, uncommitted: false) }
    }

    /// Takes a document off the device that the user no longer sees, or no query asks for.
    func removeFromView(_ record: SyncRecord, isHeld: Bool) throws {
        try evict(record, isHeld: isHeld, .remote)
        guard record.isClaimedByID else { return try keepStaleMark(after: record) }
        // An id that is asked for waits for its document to be seen again.
        var waiting = SyncRecord(documentID: record.documentID)
        waiting.isRequestedByApp = record.isRequestedByApp
        if record.hint > 0 { waiting.hint = try nextStaleMark() }
        try save(waiting)
    }

    /// Removes the record of a document whose local copy, or whose change, was given up.
    ///
    /// Where something about it was not settled and sets ask for documents of the collection, an empty
    /// record stays until the next look: a query may ask for what the remote holds.
    ///
    /// - Parameter local: the document as it was here.
    func leave(_ record: SyncRecord, local: BSONDocument?) throws {
        let isSettled =
            record.hint == 0 && record.pause == nil && record.attempt == nil
            && (!record.isPending || record.base == .absent)
        // An insert that was sent may be found at the remote when the app makes the document anew.
        if record.base == .absent {
            let open = record.attempt.map { UnresolvedAttempt($0, base: nil, local: local) }
            try givenUp.keep(
                record.discarded + [open].compactMap(\.self), of: record.documentID,
                in: collection.rowID)
        }
        try records.remove(record)
        #if ENGINE_VARIANTS
            if EngineVariant.givenUpNotLookedFor.isOn { return }
        #endif
        if !isSettled { try insertStaleRecord(at: record.documentID) }
    }

    /// Has what the remote holds looked at where that was to be done when the record was removed: a
    /// query may ask for it by now.
    func keepStaleMark(after record: SyncRecord) throws {
        if record.hint > 0 { try insertStaleRecord(at: record.documentID) }
    }

    /// Stores an empty record that waits for a look, where queries ask for documents at all.
    private func insertStaleRecord(at id: BSONValue) throws {
        guard collection.isSubscribed, try membership.isAsked else { return }
        var left = SyncRecord(documentID: id, byID: false)
        left.hint = try nextStaleMark()
        try save(left)
    }

    /// Evicts a document that holds what the remote does, where no id and no query keeps it here.
    func evictUnclaimed(
        _ record: SyncRecord, local: BSONDocument?, _ reason: ChangeReason
    ) throws {
        guard collection.isSubscribed, !record.isClaimedByID, !record.isPending,
            record.attempt == nil, let local, try !membership.keeps(local)
        else { return }
        try evict(record, isHeld: true, reason)
        try keepStaleMark(after: record)
    }

    /// Has a document looked at, and evicted then, where no id and no query keeps it here.
    func markStaleIfUnclaimed(_ record: inout SyncRecord, local: BSONDocument?) throws {
        guard collection.isSubscribed, !record.isClaimedByID, let local,
            try !membership.keeps(local)
        else { return }
        record.hint = try nextStaleMark()
    }

    /// Finds records that came to be since the remote was asked for documents without one.
    ///
    /// - Returns: whether there is one; it is looked at anew.
    func hasRecordMeanwhile(_ look: SyncRecord) throws -> Bool {
        guard look.rowID == nil, collection.isSubscribed else { return false }
        if let known = try record(look.documentID) {
            if look.isClaimedByID { try claimByID(known) }
            try hint(known)
            return true
        }
        guard !look.isClaimedByID, try local(look.documentID) != nil else { return false }
        // A document that was written past sync: both sides may hold something.
        try begin(look.documentID, byID: false)
        return true
    }
}

extension SyncTransaction {
    /// Forgets that sets of subscriptions asked for documents of the collection, once no set does
    /// and no document is here for one: the app may write to the store directly again.
    ///
    /// The last call of a transaction: what saves the collection after it stores the mark again.
    func clearSubscribedMark() throws {
        guard collection.isSubscribed, try !subscriptions.asks(of: namespace),
            try records.records(.byQuery, in: collection.rowID, limit: 1).isEmpty
        else { return }
        try state.clearSubscribedMark(collection)
    }
}
