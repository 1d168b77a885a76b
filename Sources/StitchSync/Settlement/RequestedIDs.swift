internal import BSONStore

/// The ids whose sync begins.
struct RequestedIDs {
    let sync: SyncTransaction

    /// Begins the sync of ids; those that are synced already do not change.
    ///
    /// - Parameter limit: how many ids without a local document one row of `sync_wanted` holds.
    func add(_ ids: [BSONValue], batchSize limit: Int) throws {
        let hasRecords = try sync.records.holds(.all, in: sync.collection.rowID)
        let hasDocuments = try !sync.transaction.isEmpty(sync.namespace)
        let isAscending = AscendingKeys(ids) != nil
        var keys: Set<[UInt8]> = []
        var absent: [BSONValue] = []
        for id in ids where isAscending || keys.insert(BSONKey.encode(id)).inserted {
            if hasRecords, let known = try sync.record(id) {
                try noteRequest(of: known)
                continue
            }
            if hasDocuments, try sync.local(id) != nil {
                try insertRecord(of: id, byID: true)
            } else {
                absent.append(id)
            }
        }
        for start in stride(from: 0, to: absent.count, by: limit) {
            let end = min(start + limit, absent.count)
            try sync.wantedIDs.add(absent[start..<end], in: sync.collection.rowID)
        }
    }

    /// Notes that the app requested a document by its id, too.
    func noteRequest(of record: SyncRecord) throws {
        guard record.reason != .request else { return }
        try sync.records.setReason(of: record, to: .request)
    }

    /// Inserts a stale record, so that the document is fetched.
    func insertRecord(of id: BSONValue, byID isByID: Bool) throws {
        var record = SyncRecord(documentID: id, byID: isByID)
        if let local = try sync.local(id) {
            // A local version field was copied with a document of another synced collection.
            let bare = local.withoutVersion
            if bare.byteCount != local.byteCount { try sync.setLocal(to: bare) }
            record.isPending = true
        }
        try sync.makeStale(&record)
        if isByID { sync.note(.synced, of: id) }
        try sync.save(record)
    }
}
