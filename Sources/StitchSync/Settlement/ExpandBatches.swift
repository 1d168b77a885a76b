internal import BSONStore

/// The expansion of state that is stored once for several records.
struct ExpandBatches {
    let sync: SyncTransaction

    /// Writes state that is stored once for several records to each of them.
    func run() throws {
        if sync.collection.hasAttempts { try expandAttempts() }
        guard sync.collection.hasWantedIDs else { return }
        let requested = RequestedIDs(sync: sync)
        for wanted in try sync.wantedIDs.rows(in: sync.collection.rowID) {
            for id in wanted.ids {
                if let known = try sync.record(id) {
                    if wanted.isByID { try requested.noteRequest(of: known) }
                } else {
                    try requested.insertRecord(of: id, byID: wanted.isByID)
                }
            }
            try sync.wantedIDs.remove(row: wanted.row)
        }
    }

    /// Stores each attempt of the open batches in its record.
    func expandAttempts() throws {
        for (place, batch) in try sync.attemptBatches.batches(in: sync.collection.rowID) {
            for member in batch.members {
                guard var record = try sync.records.entry(inRow: member.row)?.record,
                    record.attempt == nil
                else { continue }
                let version = UploadStatement.version(
                    after: record.version, member.operation, member.kind)
                record.attempt = Attempt(
                    operation: member.operation,
                    intended: member.kind == .delete ? .absent : .sameAsLocal,
                    version: version.map(VersionField.version) ?? .absent, token: batch.token)
                try sync.save(record)
            }
            _ = try sync.attemptBatches.remove(place)
        }
    }
}
