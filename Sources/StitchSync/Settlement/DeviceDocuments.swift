internal import BSONStore

/// The documents on the device: their arrival, stay and removal, by ids and subscriptions.
struct DeviceDocuments {
    let sync: SyncTransaction

    /// Decides whether a fetched document that no id keeps stays on the device.
    ///
    /// - Parameter isHeld: whether the document is on the device.
    func decide(
        of record: SyncRecord, isHeld: Bool, _ lookup: RemoteLookup, _ edition: RemoteEdition
    ) throws -> MembershipDecision {
        let membership = try sync.membership
        let isAsked = edition.document.map {
            isHeld ? membership.mayStay($0) : membership.asks(for: $0) || membership.shows($0)
        }
        let remote: MembershipFacts.Remote =
            switch lookup {
            case .found: .there
            case .hidden: .hidden
            case .absent: .deleted
            }
        return MembershipDecision.decide(
            MembershipFacts(
                isHeld: isHeld, hasPendingChange: record.isPending || record.attempt != nil,
                isKeptByID: record.isKeptByID, isMatchedByQuery: isAsked ?? false,
                remote: remote))
    }

    /// Removes a document from the device; the remote keeps it.
    func evict(_ record: SyncRecord, isHeld: Bool, _ reason: ChangeReason) throws {
        let id = record.documentID
        let own = try isHeld ? sync.removeLocal(id, as: .evicted) : id
        if isHeld { sync.note(.leftView, of: id, from: record.version) }
        try sync.records.remove(record)
        try sync.forgetEditions(of: record.documentID)
        if isHeld { try sync.emit(.evict, of: own, reason: reason, uncommitted: false) }
    }

    /// Evicts a document that the user may no longer read or no query matches.
    func removeFromView(_ record: SyncRecord, isHeld: Bool) throws {
        try evict(record, isHeld: isHeld, .remote)
        guard record.isKeptByID else { return try keepStaleMark(after: record) }
        // A synced id waits until its document is visible again.
        var waiting = SyncRecord(documentID: record.documentID)
        waiting.reason = record.reason
        if record.staleMark > 0 { try sync.makeStale(&waiting) }
        try sync.save(waiting)
    }

    /// Ends the sync of a document: removes its record, its journal and its local copy, with any
    /// pending change.
    ///
    /// No delete is uploaded. Only a record marked as deleted here uploads one, and a removal as
    /// ``RemovalReason/syncEnded`` keeps the transaction from storing such a mark.
    func endSync(of record: SyncRecord, local: BSONDocument?) throws {
        try removeRecord(record, local: local)
        sync.note(.desynced, of: record.documentID, from: record.version)
        try sync.forgetEditions(of: record.documentID)
        guard local != nil else {
            // A file may have waited for the document.
            return sync.noteChange(of: record.documentID)
        }
        let own = try sync.removeLocal(record.documentID, as: .syncEnded)
        // The files of a change that is given up go with it, unless the remote may have the change.
        if record.isPending, record.attempt == nil, record.unresolved.isEmpty {
            try sync.keepReferences(
                of: record.documentID, in: record.base.document(local: local))
        }
        try sync.emit(.delete, of: own, reason: .desync, uncommitted: false)
    }

    /// Removes the record of a document whose local copy or change was abandoned.
    ///
    /// Where the record was not settled and the collection has subscriptions, an empty stale record
    /// stays until the next fetch: a query may match the remote's document.
    ///
    /// - Parameter local: the previous local document.
    func removeRecord(_ record: SyncRecord, local: BSONDocument?) throws {
        let isSettled =
            record.staleMark == 0 && record.pause == nil && record.attempt == nil
            && (!record.isPending || record.base == .absent)
        // The remote may hold the insert when the app inserts the document again.
        if record.base == .absent {
            let open = record.attempt.map { UnresolvedAttempt($0, base: nil, local: local) }
            try sync.unresolvedAttempts.add(
                record.unresolved + [open].compactMap(\.self), of: record.documentID,
                in: sync.collection.rowID)
        }
        try sync.records.remove(record)
        if !isSettled { try insertStaleRecord(at: record.documentID) }
    }

    /// Inserts an empty stale record where the removed record was stale: a query may match the
    /// remote's document now.
    func keepStaleMark(after record: SyncRecord) throws {
        if record.staleMark > 0 { try insertStaleRecord(at: record.documentID) }
    }

    /// Inserts an empty stale record where the collection has queries.
    private func insertStaleRecord(at id: BSONValue) throws {
        guard sync.collection.isSubscribed, try sync.membership.isAsked else { return }
        var left = SyncRecord(documentID: id, byID: false)
        try sync.makeStale(&left)
        try sync.save(left)
    }

    /// Evicts a confirmed document that no id and no query keeps.
    func evictUnkept(
        _ record: SyncRecord, local: BSONDocument?, _ reason: ChangeReason
    ) throws {
        guard sync.collection.isSubscribed, !record.isKeptByID, !record.isPending,
            record.attempt == nil, let local, try !sync.membership.mayStay(local)
        else { return }
        try evict(record, isHeld: true, reason)
        try keepStaleMark(after: record)
    }

    /// Marks a document as stale that no id and no query keeps; the fetch then evicts it.
    func markStaleIfUnkept(_ record: inout SyncRecord, local: BSONDocument?) throws {
        guard sync.collection.isSubscribed, !record.isKeptByID, let local,
            try !sync.membership.mayStay(local)
        else { return }
        try sync.makeStale(&record)
    }

    /// Stages a document that the app would see while its set is being downloaded, but whose unique
    /// value another one has: the set's activation may evict that one.
    ///
    /// - Parameter cause: the error of the document that could not be stored.
    /// - Returns: `false` after another error, and for a document that is on the device or arrives for
    ///   another reason.
    func stageInstead(of fetched: FetchedDocument, _ cause: any Error) throws -> Bool {
        guard (cause as? StoreError)?.code == .duplicateKey, sync.collection.isSubscribed,
            !fetched.record.isKeptByID,
            case .found(let document) = fetched.lookup,
            try sync.membership.isShownOnly(document.withoutVersion),
            try sync.local(fetched.record.documentID) == nil
        else { return false }
        if var record = try sync.record(fetched.record.documentID) {
            guard !record.isPending, record.attempt == nil, record.unresolved.isEmpty,
                !record.isKeptByID, record.base == .absent
            else { return false }
            record.endStale(since: fetched.record)
            try sync.records.remove(record)
            try keepStaleMark(after: record)
        }
        try sync.subscriptions.stage(document, in: sync.collection.rowID)
        return true
    }

    /// Returns whether a document without a record at the time of the request has one now.
    ///
    /// Such a record is marked as stale, so that it is fetched again.
    func hasRecordMeanwhile(_ fetched: SyncRecord) throws -> Bool {
        guard fetched.rowID == nil, sync.collection.isSubscribed else { return false }
        if let known = try sync.record(fetched.documentID) {
            if fetched.isKeptByID { try RequestedIDs(sync: sync).noteRequest(of: known) }
            try sync.markStale(known)
            return true
        }
        guard !fetched.isKeptByID, try sync.local(fetched.documentID) != nil else { return false }
        // The app wrote the document directly to the store, so that both sides may hold one.
        try RequestedIDs(sync: sync).insertRecord(of: fetched.documentID, byID: false)
        return true
    }

    /// Makes the collection an unsubscribed one once no set has a subscription on it and none keeps
    /// a document of it.
    ///
    /// Then the app may write to the store directly again.
    ///
    /// It must be the last call of a transaction: a later save of the collection stores the earlier
    /// state again.
    func endSubscribedStateIfUnused() throws {
        guard sync.collection.isSubscribed,
            try !sync.subscriptions.hasSubscription(on: sync.namespace),
            try sync.records.page(of: .onlyByQuery, in: sync.collection.rowID, limit: 1).isEmpty
        else { return }
        try sync.collections.endSubscribedState(of: sync.collection)
    }
}
