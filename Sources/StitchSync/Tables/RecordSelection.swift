internal import BSONStore

/// A condition that selects records of a collection.
enum RecordSelection: CaseIterable {
    /// All records.
    case all
    /// Records with a change that can be uploaded now.
    case toUpload
    /// Records whose document has to be fetched, for its content or to settle an attempt.
    case toFetch
    /// Records whose document has to be fetched for its content only.
    case toDownload
    /// Records with a pending change or an open attempt, without paused ones.
    case unsent
    /// Records with a pending change.
    case pending
    /// Records of documents that the remote has confirmed.
    case confirmed
    /// Records of documents that the remote has confirmed or has to receive.
    case confirmedOrPending
    /// Records of documents that only a subscription's query keeps on the device.
    case onlyByQuery
    /// Records of paused documents.
    case paused
    /// Records of documents that are missing at the remote without evidence of a delete.
    case unexplained
}

extension RecordSelection {
    private typealias Row = SyncRecordTable.Condition

    /// The condition in SQL; some are those of the table's partial indexes.
    var condition: String {
        switch self {
        case .all: "1"
        case .toUpload:
            "\(Row.isPending) AND \(Row.isNotPaused) AND \(Row.hasNoAttempt) AND \(Row.isNotStale)"
        case .toFetch: "(\(Row.isStale) OR \(Row.hasAttempt)) AND \(Row.isNotPaused)"
        case .toDownload:
            "\(Self.toFetch.condition) AND \(Row.isStale) AND \(Row.hasNoAttempt)"
        case .unsent: "(\(Row.isPending) OR \(Row.hasAttempt)) AND \(Row.isNotPaused)"
        case .pending: Row.isPending
        case .confirmed: Row.isConfirmed
        case .confirmedOrPending: "(\(Row.isConfirmed) OR \(Row.isPending))"
        case .onlyByQuery: Row.isOnlyByQuery
        case .paused: "\(Row.isPaused) AND NOT \(RecordStatements.pauseIsUnexplained)"
        case .unexplained: "\(Row.isPaused) AND \(RecordStatements.pauseIsUnexplained)"
        }
    }

    /// Whether a record may meet the condition, by the fields that are cheap to test.
    ///
    /// A record that an index returned and that cannot meet the condition shows damage.
    func mayHold(_ record: SyncRecord) -> Bool {
        switch self {
        case .all, .unsent, .confirmed, .confirmedOrPending, .onlyByQuery: true
        case .toUpload, .pending: record.isPending
        case .toFetch: record.staleMark > 0 || record.attempt != nil
        case .toDownload: record.staleMark > 0
        case .paused: record.pause != nil
        case .unexplained: record.isUnexplained
        }
    }

    /// Whether an index returns the records in row order; otherwise a query scans all rows.
    var isIndexed: Bool {
        switch self {
        case .toUpload, .toFetch, .toDownload, .pending, .paused, .unexplained: true
        case .all, .unsent, .confirmed, .confirmedOrPending, .onlyByQuery: false
        }
    }

    /// Whether a page's query reads the bases of its records, too.
    ///
    /// A query that scans would also read the bases of the rows that it skips.
    var joinsBases: Bool { isIndexed }

    /// Whether requested ids that have no record yet (``WantedIDTable``) belong to the selection.
    var includesWantedIDs: Bool {
        switch self {
        case .all, .toFetch, .toDownload: true
        case .toUpload, .unsent, .pending, .confirmed, .confirmedOrPending, .onlyByQuery, .paused,
            .unexplained:
            false
        }
    }
}
