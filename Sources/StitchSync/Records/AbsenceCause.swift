internal import BSONStore

/// Is what the history last told of a document that it says is gone.
///
/// Where such a document is not found, this says why. A record's hint keeps it in its upper bits, so
/// that a look long after the telling knows of it, too.
enum AbsenceCause: Int64, CaseIterable {
    /// Nothing, or that it is there.
    case nothing = 0
    /// It was deleted.
    case deleted = 0x2000_0000_0000_0000
    /// It left what the user sees, and may still be there.
    case leftView = 0x4000_0000_0000_0000
    /// Its collection was dropped or renamed; only files of earlier versions hold it.
    case dropped = 0x6000_0000_0000_0000

    init(_ change: RemoteChange) {
        self = change.leftView ? .leftView : change.isDelete ? .deleted : .nothing
    }

    /// What a record's hint keeps.
    init(hint: Int64) {
        self = Self.allCases.last { hint & $0.rawValue == $0.rawValue } ?? .nothing
    }

    /// A hint that keeps what was told.
    func hint(_ number: Int64) -> Int64 { number | rawValue }

    /// What an answer means, given what was told before.
    ///
    /// A document that was told to be deleted and is not seen is gone; one that left the view and is not
    /// seen was not deleted. Otherwise the remote's word counts.
    func read(_ lookup: RemoteLookup) -> RemoteLookup {
        switch (lookup, self) {
        case (.found, _), (_, .nothing), (_, .dropped): lookup
        case (_, .deleted): .absent
        case (_, .leftView): .hidden
        }
    }
}
