internal import BSONStore

/// A condition that selects records of a collection.
enum RecordSelection: CaseIterable {
    /// All records.
    case all
    /// Records with a change that can be uploaded now.
    case toUpload
    /// Records whose document has to be fetched.
    case toFetch
    /// Records with a pending change or an open attempt, without paused ones.
    case unsent
    /// Records with a pending change.
    case pending
    /// Records of documents that only a subscription's query keeps on the device.
    case onlyByQuery
    /// Records of paused documents.
    case paused
    /// Records of documents that are missing at the remote without evidence of a delete.
    case unexplained
}

extension RecordSelection {
    /// The condition in SQL; some are those of the table's partial indexes.
    ///
    /// The column `hint` holds the stale mark, and `by_id` a ``SyncReason``.
    var condition: String {
        switch self {
        case .all: "1"
        case .toUpload: "pending = 1 AND pause IS NULL AND attempt IS NULL AND hint = 0"
        case .toFetch: "(hint > 0 OR attempt IS NOT NULL) AND pause IS NULL"
        case .unsent: "(pending = 1 OR attempt IS NOT NULL) AND pause IS NULL"
        case .pending: "pending = 1"
        case .onlyByQuery: "by_id = 0"
        case .paused: "pause IS NOT NULL AND NOT \(RecordStatements.pauseIsUnexplained)"
        case .unexplained: "pause IS NOT NULL AND \(RecordStatements.pauseIsUnexplained)"
        }
    }

    /// Whether a record may meet the condition, by the fields that are cheap to test.
    ///
    /// A record that an index returned and that cannot meet the condition shows damage.
    func mayHold(_ record: SyncRecord) -> Bool {
        switch self {
        case .all, .unsent, .onlyByQuery: true
        case .toUpload, .pending: record.isPending
        case .toFetch: record.staleMark > 0 || record.attempt != nil
        case .paused: record.pause != nil
        case .unexplained: record.isUnexplained
        }
    }

    /// Whether an index returns the records in row order.
    ///
    /// Then the query reads bases, too. Otherwise it scans all rows and must not read the bases
    /// of skipped ones.
    var isIndexed: Bool {
        switch self {
        case .toUpload, .toFetch, .pending, .paused, .unexplained: true
        case .all, .unsent, .onlyByQuery: false
        }
    }

    /// Whether requested ids that have no record yet (``WantedIDTable``) belong to the selection.
    var includesWantedIDs: Bool {
        switch self {
        case .all, .toFetch: true
        case .toUpload, .unsent, .pending, .onlyByQuery, .paused, .unexplained: false
        }
    }
}
