internal import BSONStore

/// The sync state of one document (rule R2).
struct SyncRecord {
    /// The number of bits for a record's revisions, beyond which they could equal a later record's.
    static let revisionBits = 24

    /// The row's number; `nil` before the record is stored.
    var rowID: Int64?
    /// The document's `_id`.
    let documentID: BSONValue
    /// Grows with each save of the record or its document, so that a decision notices later changes.
    ///
    /// Setting only the stale mark or the reason does not change it.
    var revision: Int64 = 0
    /// The edition that the remote last confirmed.
    var base: StoredContent = .absent
    /// The version field of the base.
    var version: VersionField = .absent
    /// Whether the local document differs from the base.
    var isPending = false
    /// Whether the app or a conflict's resolution deleted the document.
    ///
    /// Without this mark a missing row is damage and never uploaded.
    var isDeletedHere = false
    /// The stale mark: greater than zero when the remote edition has to be fetched; grows with each
    /// mark.
    ///
    /// Its upper bits hold an ``AbsenceCause``.
    var staleMark: Int64 = 0
    /// Why the document is synced.
    var reason = SyncReason.localWrite
    /// The number of consecutive failed uploads.
    var failures: Int64 = 0
    /// The stored base.
    var storedBase: BSONDocument?
    /// The stored values of the indexed fields.
    private var storedIndexedFields:
        (isPending: Bool, staleMark: Int64, rarities: RareFields?, isDeleted: Bool)?
    /// The fields that few records have, in an object of their own so that records are quickly
    /// copied.
    private var rarities: RareFields?

    /// Makes a record without a confirmed edition.
    init(documentID: BSONValue) { self.documentID = documentID }

    /// Makes a record without a confirmed edition, requested by its id or only by a query.
    init(documentID: BSONValue, byID isByID: Bool) {
        self.documentID = documentID
        reason = isByID ? .request : .query
    }
}

extension SyncRecord {
    private final class RareFields: Sendable {
        let attempt: Attempt?
        let unresolved: [UnresolvedAttempt]
        let pause: PauseReason?

        init?(_ attempt: Attempt?, _ unresolved: [UnresolvedAttempt], _ pause: PauseReason?) {
            if attempt == nil && unresolved.isEmpty && pause == nil { return nil }
            self.attempt = attempt
            self.unresolved = unresolved
            self.pause = pause
        }
    }

    /// The difference between the indexed fields and their stored values.
    enum IndexedFieldChange {
        case same
        /// Only the pending mark differs.
        case onlyPending
        case different
    }

    /// The difference of the indexed fields from their stored values.
    var indexedChange: IndexedFieldChange {
        guard let storedIndexedFields, storedIndexedFields.staleMark == staleMark,
            storedIndexedFields.rarities === rarities,
            storedIndexedFields.isDeleted == isDeletedHere
        else {
            return .different
        }
        return storedIndexedFields.isPending == isPending ? .same : .onlyPending
    }

    /// The stored pause, and whether the stored record is stale.
    var storedMarks: (pause: PauseReason?, isStale: Bool) {
        guard let stored = storedIndexedFields else { return (nil, false) }
        return (stored.rarities?.pause, stored.staleMark > 0)
    }

    /// Notes that the record's current values are stored.
    mutating func noteStored() {
        storedIndexedFields = (isPending, staleMark, rarities, isDeletedHere)
    }

    /// The attempt without an answer.
    var attempt: Attempt? {
        get { rarities?.attempt }
        set { rarities = RareFields(newValue, unresolved, pause) }
    }

    /// The unresolved attempts since the last confirmed one, the oldest first.
    ///
    /// No evidence of them was found, and the remote may still apply each.
    private(set) var unresolved: [UnresolvedAttempt] {
        get { rarities?.unresolved ?? [] }
        set { rarities = RareFields(attempt, newValue, pause) }
    }

    /// The reason of the document's pause; `nil` when it is not paused.
    var pause: PauseReason? {
        get { rarities?.pause }
        set { rarities = RareFields(attempt, unresolved, newValue) }
    }

    /// The maximum number of stored unresolved attempts; an older one that the remote applies later
    /// counts as another client's write.
    static let unresolvedMax = 32

    /// Stores unresolved attempts.
    mutating func addUnresolved(_ attempts: [UnresolvedAttempt]) {
        let news = attempts.filter { one in !unresolved.contains { $0.operation == one.operation } }
        unresolved = (unresolved + news).suffix(Self.unresolvedMax)
    }

    /// Removes the unresolved attempts, since the remote's edition is known.
    mutating func clearUnresolved() { if !unresolved.isEmpty { unresolved = [] } }

    /// Whether the document stays on the device without a query that matches it.
    var isKeptByID: Bool { reason != .query }

    /// Whether the record only states that the remote holds the local document.
    var isSettled: Bool {
        base == .sameAsLocal && !isPending && staleMark == 0 && failures == 0 && rarities == nil
    }

    /// Returns whether another record has the same row and revision, so that nothing was written
    /// since.
    func isSame(as other: SyncRecord) -> Bool {
        rowID == other.rowID && revision == other.revision
    }
}

extension SyncRecord {
    /// Whether the document is missing at the remote without evidence of a delete.
    var isUnexplained: Bool { pause?.code == .unexplainedAbsence }
    /// Whether a conflict waits until the app can decode the document's editions.
    var isUndecodable: Bool { pause?.code == .decodingFailed }
    /// Whether another edition of the document ends its pause: the app may decode that one, or a store
    /// can hold it where nothing of the document is here.
    var waitsForOtherEdition: Bool {
        isUndecodable
            || pause?.code == .unusableDocument && pause != .quarantined && base == .absent
                && !isPending
    }

    /// The document's sync state.
    var status: DocumentSyncStatus {
        if isUnexplained { return .unexplained }
        if let pause { return .paused(pause) }
        return switch (isPending, staleMark > 0) {
        case (false, false): .synced
        case (true, false): .pending
        case (false, true): .stale
        case (true, true): .conflicted
        }
    }
}

extension SyncRecord {
    /// Makes an attempt's document the base.
    mutating func adopt(_ attempt: Attempt, local: BSONDocument?) {
        base = StoredContent(attempt.intended.document(local: local), local: local)
        version = attempt.version
        self.attempt = nil
        clearUnresolved()
        failures = 0
        notePending(local: local)
    }

    /// Notes whether the local document differs from the base.
    mutating func notePending(local: BSONDocument?) {
        isPending = PendingChange(base: base.document(local: local), local: local) != .none
    }

    /// Removes the stale mark after a fetch, unless a newer one was set since its request.
    mutating func endStale(since requested: SyncRecord) {
        if staleMark == requested.staleMark { staleMark = 0 }
    }

    /// Stores a base without a pending change.
    ///
    /// An unresolved attempt may still be applied as long as the remote keeps the version in its
    /// condition.
    mutating func takeBase(_ base: StoredContent, _ version: VersionField) {
        self.base = base
        if version != self.version { clearUnresolved() }
        self.version = version
        isPending = false
        failures = 0
    }
}

extension PendingChange {
    /// Compares a base with the local document.
    init(base: BSONDocument?, local: BSONDocument?) {
        switch (base, local) {
        case (nil, nil): self = .none
        case (nil, _?): self = .insert
        case (_?, nil): self = .delete
        case (let base?, let local?): self = base.contentEquals(local) ? .none : .update
        }
    }
}
