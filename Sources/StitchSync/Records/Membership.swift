internal import BSONStore

/// Says which documents of one collection the sets of subscriptions ask for.
struct Membership {
    /// The queries of the set whose documents are here.
    private let active: [SubscriptionQuery]
    /// The queries of the set whose documents are coming in; `nil` where none are.
    private let coming: [SubscriptionQuery]?
    /// The queries of the sets that the remote has yet to answer.
    private let unanswered: [SubscriptionQuery]
    /// Some set asks for documents of the collection, be it answered or not.
    let isAsked: Bool

    /// Asks for nothing.
    init() {
        active = []
        coming = nil
        unanswered = []
        isAsked = false
    }

    init(_ history: SubscriptionHistory, of namespace: Namespace) {
        active = history.active.queries(of: namespace)
        coming = history.coming?.queries(of: namespace)
        unanswered = history.unanswered.flatMap { $0.queries(of: namespace) }
        isAsked = history.sets.contains { $0.asks(of: namespace) }
    }

    /// Documents of a set are coming in, so that what changes meanwhile has to be seen.
    var isStaging: Bool { coming?.isEmpty == false }

    /// A query asks for a document that is not here.
    func asks(for document: BSONDocument) -> Bool { active.contains { $0.matches(document) } }

    /// A document that is not here is among those that are coming in.
    func expects(_ document: BSONDocument) -> Bool {
        coming?.contains { $0.matches(document) } ?? false
    }

    /// A query asks for a document that is here.
    func keeps(_ document: BSONDocument) -> Bool { asks(for: document) || expects(document) }

    /// A query asks for a document that is here, or will once its set is answered: documents that came
    /// for a set stay when it has to be asked for anew.
    func mayKeep(_ document: BSONDocument) -> Bool {
        keeps(document) || unanswered.contains { $0.matches(document) }
    }

    /// A change of a document that has no record is to be looked at.
    func isConcerned(by change: RemoteChange) -> Bool {
        #if ENGINE_VARIANTS
            if EngineVariant.changesPassedWhileStaging.isOn, isStaging { return false }
        #endif
        if isStaging { return true }
        if change.isDelete || active.isEmpty { return false }
        return change.content.map { asks(for: $0.withoutVersion) } ?? true
    }
}

// MARK: - Looks

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

// MARK: - The end of all subscriptions

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

extension CollectionPass {
    /// Forgets that subscriptions asked for documents here, once the last of those documents is gone.
    func clearSubscribedMark() async throws {
        let sets = engine.sets
        let isOver = try snapshot { snapshot in
            guard snapshot.collection.isSubscribed else { return false }
            let stored = SubscriptionTable(connection: snapshot.transaction.connection, cache: sets)
            return try !stored.asks(of: namespace)
                && snapshot.records.records(.byQuery, in: snapshot.collection.rowID, limit: 1)
                    .isEmpty
        }
        if isOver { try await write { sync in try sync.clearSubscribedMark() } }
    }
}

// MARK: - Newcomers

extension SyncSnapshot {
    /// Documents without a record that changes are about and that a set may ask for, once each.
    func newcomers(
        in batch: RemoteChangeBatch, _ membership: Membership
    ) throws -> [BSONValue] {
        var keys = try Set(wantedKeys())
        return try batch.changes.filter { change in
            guard membership.isConcerned(by: change) else { return false }
            let key = BSONKey.encode(change.documentID)
            guard !keys.contains(key),
                try records.record(collection.rowID, id: change.documentID) == nil
            else { return false }
            keys.insert(key)
            return true
        }.map(\.documentID)
    }

    private func wantedKeys() throws -> [[UInt8]] {
        guard collection.hasWantedIDs else { return [] }
        return try records.wanted(in: collection.rowID).flatMap { $0.ids.map(BSONKey.encode) }
    }
}
