internal import BSONStore

/// The cause that the history last reported for a document's absence.
///
/// It explains why a fetch does not find the document. The upper bits of a record's stale mark keep
/// it for a later fetch.
enum AbsenceCause: Int64, CaseIterable {
    /// No cause, or the document exists.
    case nothing = 0
    /// The document was deleted.
    case deleted = 0x2000_0000_0000_0000
    /// The document left the user's view and may still exist.
    case leftView = 0x4000_0000_0000_0000

    init(_ change: RemoteChange) {
        self = change.leftView ? .leftView : change.isDelete ? .deleted : .nothing
    }

    /// Reads the cause from a record's stale mark.
    init(staleMark: Int64) {
        self = Self.allCases.last { staleMark & $0.rawValue == $0.rawValue } ?? .nothing
    }

    /// Returns a stale mark with the cause.
    func staleMark(_ number: Int64) -> Int64 { number | rawValue }

    /// The bits of a stale mark that hold its number.
    static let numberBits: Int64 = 0x1FFF_FFFF_FFFF_FFFF

    /// Returns the meaning of an answer with this cause.
    ///
    /// A document that is not found is absent after a delete, and hidden after it left the view. In
    /// other cases the remote's answer counts.
    func read(_ lookup: RemoteLookup) -> RemoteLookup {
        switch (lookup, self) {
        case (.found, _), (_, .nothing): lookup
        case (_, .deleted): .absent
        case (_, .leftView): .hidden
        }
    }
}
