internal import BSONStore

/// A record as it was when the remote was asked, with the answer.
struct FetchedDocument: Sendable {
    let record: SyncRecord
    private(set) var lookup: RemoteLookup
    private let told: AbsenceCause

    init(_ record: SyncRecord, _ lookup: RemoteLookup, _ told: [[UInt8]: AbsenceCause]) {
        self.record = record
        self.told =
            told.isEmpty
            ? AbsenceCause(hint: record.hint)
            : told[BSONKey.encode(record.documentID)] ?? AbsenceCause(hint: record.hint)
        self.lookup = self.told.read(lookup)
    }

    /// Takes a later answer.
    mutating func read(_ lookup: RemoteLookup) { self.lookup = told.read(lookup) }

    /// It is not there, by proof.
    var isAbsent: Bool { lookup == .absent }

    /// What speaks for that somebody deleted it, where it is not there.
    var absenceEvidence: RemoteEventFacts.Evidence {
        #if ENGINE_VARIANTS
            if EngineVariant.absenceBelieved.isOn { return .deleted }
        #endif
        return told == .deleted ? .deleted : .none
    }

    var remote: BSONDocument? {
        if case .found(let document) = lookup { document } else { nil }
    }
}
