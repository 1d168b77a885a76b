internal import BSONStore

/// Keeps what sync knows of one document: rule R2's record.
struct SyncRecord {
    /// The row, `nil` before it is stored.
    var rowID: Int64?
    /// The document's `_id`.
    let documentID: BSONValue
    /// Grows with each change of record or document; a decision names the one it was made from.
    var revision: Int64 = 0
    /// What the remote last confirmed.
    var base: StoredContent = .absent
    /// The version field that the base was taken with.
    var version: VersionField = .absent
    /// Local differs from the base.
    var isPending = false
    /// The change to send is that a user, or a conflict's answer, deleted the document: without this
    /// note a row that is missing is damage, and never sent.
    var isDeletedHere = false
    /// Greater than zero when the remote is to be looked at; grows with each hint.
    var hint: Int64 = 0
    /// Its id keeps the document here, not only a query.
    var isClaimedByID = true
    /// The app asked for the id itself, and did not only write the document.
    var isRequestedByApp = false
    /// How often in a row the remote failed to take the change in.
    var failures: Int64 = 0
    /// The base's bytes as they are stored.
    var keptBase: BSONDocument?
    /// What is stored of that which lists are made by.
    private var storedListing:
        (isPending: Bool, hint: Int64, rarities: RareFields?, isDeleted: Bool)?
    /// What few records have, kept apart so that a record is quickly copied.
    private var rarities: RareFields?

    /// Makes a record that knows nothing yet.
    init(documentID: BSONValue) { self.documentID = documentID }

    /// Makes a record that knows nothing yet, and says whether its id or only a query wants it.
    init(documentID: BSONValue, byID isByID: Bool) {
        self.documentID = documentID
        isClaimedByID = isByID
        isRequestedByApp = isByID
    }
}

extension SyncRecord {
    private final class RareFields: Sendable {
        let attempt: Attempt?
        let discarded: [UnresolvedAttempt]
        let pause: PauseReason?

        init?(_ attempt: Attempt?, _ discarded: [UnresolvedAttempt], _ pause: PauseReason?) {
            if attempt == nil && discarded.isEmpty && pause == nil { return nil }
            self.attempt = attempt
            self.discarded = discarded
            self.pause = pause
        }
    }

    /// Of what lists are made by, how much is as it is stored.
    enum IndexedFieldChange {
        case same
        /// All but whether there is a change to send.
        case samePendingApart
        case different
    }

    /// How what lists are made by compares with what is stored.
    var listing: IndexedFieldChange {
        guard let storedListing, storedListing.hint == hint, storedListing.rarities === rarities,
            storedListing.isDeleted == isDeletedHere
        else {
            return .different
        }
        return storedListing.isPending == isPending ? .same : .samePendingApart
    }

    /// Notes that the record is stored as it is.
    mutating func noteKept() { storedListing = (isPending, hint, rarities, isDeletedHere) }

    /// The try whose answer has not come.
    var attempt: Attempt? {
        get { rarities?.attempt }
        set { rarities = RareFields(newValue, discarded, pause) }
    }

    /// The tries since the last confirmed one that no evidence of was found, the oldest first; each
    /// may still land.
    private(set) var discarded: [UnresolvedAttempt] {
        get { rarities?.discarded ?? [] }
        set { rarities = RareFields(attempt, newValue, pause) }
    }

    /// Why neither direction touches the document, when so.
    var pause: PauseReason? {
        get { rarities?.pause }
        set { rarities = RareFields(attempt, discarded, newValue) }
    }

    /// Tries that are remembered at most; one that lands after so many more were given up counts as
    /// somebody else's.
    static let unresolvedMax = 32

    /// Remembers tries that no evidence of was found.
    mutating func discard(_ tries: [UnresolvedAttempt]) {
        let news = tries.filter { one in !discarded.contains { $0.operation == one.operation } }
        discarded = (discarded + news).suffix(Self.unresolvedMax)
    }

    /// Forgets them: what the remote holds is known.
    mutating func clearUnresolved() { if !discarded.isEmpty { discarded = [] } }

    /// What is stored of an id that the app asked for.
    static let requestedByApp: Int64 = 2

    /// What is stored of what keeps the document here: only queries, its own write, or its id.
    var claim: Int64 { isRequestedByApp ? Self.requestedByApp : isClaimedByID ? 1 : 0 }

    /// All there is to know is that the remote holds what is here, in a version.
    var isSettled: Bool {
        base == .sameAsLocal && !isPending && hint == 0 && failures == 0 && rarities == nil
    }

    /// The same record at the same revision: nothing was written since.
    func isSame(as other: SyncRecord) -> Bool {
        rowID == other.rowID && revision == other.revision
    }
}
