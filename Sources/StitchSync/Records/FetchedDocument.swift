internal import BSONStore

/// A record at the time of the request, with the remote's answer.
struct FetchedDocument: Sendable {
    let record: SyncRecord
    private(set) var lookup: RemoteLookup
    private let absenceCause: AbsenceCause

    init(_ record: SyncRecord, _ lookup: RemoteLookup, _ absenceCauses: [[UInt8]: AbsenceCause]) {
        self.record = record
        absenceCause =
            absenceCauses.isEmpty
            ? AbsenceCause(staleMark: record.staleMark)
            : absenceCauses[BSONKey.encode(record.documentID)]
                ?? AbsenceCause(staleMark: record.staleMark)
        self.lookup = absenceCause.read(lookup)
    }

    /// Replaces the answer by a later one.
    mutating func read(_ lookup: RemoteLookup) { self.lookup = absenceCause.read(lookup) }

    /// Whether the document is proved to be absent.
    var isAbsent: Bool { lookup == .absent }

    /// Whether the history or a tombstone reports why the document is not among those that the user
    /// sees.
    var isExplained: Bool { absenceCause == .deleted || absenceCause == .leftView }

    /// The evidence for a delete of an absent document.
    var absenceEvidence: FetchFacts.Evidence {
        return absenceCause == .deleted ? .deleted : .none
    }

    var remote: BSONDocument? {
        if case .found(let document) = lookup { document } else { nil }
    }
}

extension FetchedDocument {
    /// Returns the error of a foreign version field.
    func foreignVersion(in namespace: Namespace) -> SyncError {
        let field = remote?[DocumentVersion.fieldName] ?? .null
        return SyncError(
            .foreignVersion,
            "its version field cannot be read: \(DocumentVersion.misfit(field))",
            namespace: namespace, documentID: record.documentID)
    }
}
