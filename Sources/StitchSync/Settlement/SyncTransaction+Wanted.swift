internal import BSONStore

extension SyncTransaction {
    /// Begins the sync of ids; those that are synced already do not change.
    func want(_ ids: [BSONValue], together limit: Int) throws {
        let hasRecords = try records.hasRecords(in: collection.rowID)
        let hasDocuments = try !transaction.isEmpty(namespace)
        let isAscending = AscendingKeys(ids) != nil
        var keys: Set<[UInt8]> = []
        var absent: [BSONValue] = []
        for id in ids where isAscending || keys.insert(BSONKey.encode(id)).inserted {
            if hasRecords, let known = try record(id) {
                try claimByID(known)
                continue
            }
            if hasDocuments, try local(id) != nil {
                try begin(id)
            } else {
                absent.append(id)
            }
        }
        for start in stride(from: 0, to: absent.count, by: limit) {
            let end = min(start + limit, absent.count)
            try records.addWanted(absent[start..<end], in: collection.rowID)
        }
    }

    /// Notes that the app requested a document by its id, too.
    func claimByID(_ record: SyncRecord) throws {
        guard !record.isRequestedByApp, let row = record.rowID else { return }
        try records.setClaim(row: row, byID: true)
    }

    /// Inserts a stale record, so that the document is fetched.
    func begin(_ id: BSONValue, byID isByID: Bool = true) throws {
        var record = SyncRecord(documentID: id, byID: isByID)
        if let local = try local(id) {
            // A local version field was copied with a document of another synced collection.
            let bare = local.withoutVersion
            if bare.byteCount != local.byteCount { try setLocal(to: bare) }
            record.isPending = true
        }
        record.hint = try nextStaleMark()
        try save(record)
    }

    /// Writes state that is stored once for several records to each of them.
    func expand() throws {
        if collection.hasAttempts { try expandAttemptBatches() }
        guard collection.hasWantedIDs else { return }
        for wanted in try records.wanted(in: collection.rowID) {
            for id in wanted.ids {
                if let known = try record(id) {
                    if wanted.isByID { try claimByID(known) }
                } else {
                    try begin(id, byID: wanted.isByID)
                }
            }
            try records.removeWanted(wanted.row)
        }
    }
}
