internal import BSONStore

/// The marks of documents that have to be fetched, since the remote reported or shows a change.
struct MarkStale {
    let sync: SyncTransaction

    /// Stores stale marks and their position in the history.
    func mark(_ batch: RemoteChangeBatch) throws {
        for change in batch.changes { try note(change) }
        if sync.collection.isSubscribed {
            let newcomers = try sync.snapshot.newcomers(in: batch, sync.membership)
            if !newcomers.isEmpty {
                try sync.wantedIDs.add(newcomers[...], in: sync.collection.rowID, byID: false)
            }
        }
        var collection = sync.collection
        collection.token = batch.token
        try sync.collections.save(collection)
    }

    /// Notes a change, unless the record contains it already.
    ///
    /// A paused document is not fetched before its pause ends; the noted change counts then.
    private func note(_ change: RemoteChange) throws {
        guard let record = try sync.record(change.documentID) else { return }
        // A missing document exists again, even if unchanged.
        if record.isUnexplained {
            return try MarkUnexplained(sync: sync).lift(record, AbsenceCause(change))
        }
        guard try sync.snapshot.isNews(change, to: record) else { return }
        try mark(record, AbsenceCause(change))
    }

    /// Marks a record as stale; another edition ends a pause that waits for one.
    func mark(_ record: SyncRecord, _ cause: AbsenceCause? = nil) throws {
        guard record.waitsForOtherEdition else { return try sync.markStale(record, cause) }
        try MarkUnexplained(sync: sync).lift(record, cause)
    }

    /// Marks a document as stale whose version or fingerprint differs from the base's.
    ///
    /// - Parameter isDeleted: whether there is evidence of the delete of a missing document.
    func compare(
        _ old: SyncRecord, with lookup: RemoteVersionLookup, isDeleted: Bool
    ) throws {
        guard let record = try sync.record(old.documentID) else { return }
        switch lookup {
        case .absent:
            if isDeleted, record.isUnexplained {
                return try MarkUnexplained(sync: sync).lift(record, .deleted)
            }
            try sync.markStale(record, isDeleted ? .deleted : nil)
        case .found where record.isUnexplained: try MarkUnexplained(sync: sync).lift(record)
        case .found(let version, let content):
            if record.isRowMissing(local: try sync.local(record.documentID)) {
                return try sync.markStale(record)
            }
            if version == .absent || version != record.version { return try mark(record) }
            if let content, try !sync.snapshot.isBase(content, of: record) { try mark(record) }
        }
    }

    /// Requests documents that have no record, or only one of a local insert.
    func wantNewcomers(_ ids: [BSONValue]) throws {
        for id in ids {
            guard let known = try sync.record(id), known.base == .absent, known.staleMark == 0
            else {
                continue
            }
            try mark(known)
        }
        let changes = ids.map {
            RemoteChange(documentID: $0, isDelete: false, version: nil, operation: nil)
        }
        let batch = RemoteChangeBatch(
            changes: changes, token: ResumeToken([:]), hasMore: false)
        let newcomers = try sync.snapshot.newcomers(in: batch, sync.membership)
        if !newcomers.isEmpty {
            try sync.wantedIDs.add(newcomers[...], in: sync.collection.rowID, byID: false)
        }
    }
}
