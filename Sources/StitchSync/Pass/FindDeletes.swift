internal import BSONStore

/// The search for evidence that missing documents were deleted (decision 7).
struct FindDeletes {
    let context: PassContext

    /// Returns the keys of documents for which the remote has a tombstone.
    func keys(
        of records: [SyncRecord], since place: ResumeToken?
    ) async throws -> Set<[UInt8]> {
        guard !records.isEmpty else { return [] }
        let limit = context.limits.batchDocuments
        var deleted: Set<[UInt8]> = []
        for start in stride(from: 0, to: records.count, by: limit) {
            let chunk = records[start..<min(start + limit, records.count)]
            let ids = chunk.map(\.documentID)
            let found = try await context.request { remote in
                try await remote.tombstones(ids: ids, since: place)
            }
            try Fetch.check(found.count, for: ids.count)
            for (record, tombstone) in zip(chunk, found)
            where tombstone?.proves(deletionOf: record) ?? false {
                deleted.insert(BSONKey.encode(record.documentID))
            }
        }
        return deleted
    }
}

extension RemoteTombstone {
    /// Whether the tombstone proves the delete of a record's confirmed edition or a later one.
    ///
    /// Where the remote's file was restored, a tombstone may be older than the confirmed edition;
    /// then only a tombstone of the same lineage is proof.
    func proves(deletionOf record: SyncRecord) -> Bool {
        if isAfterPlace { return true }
        guard let ours = record.version.version, let deleted = version.version else {
            return version == record.version
        }
        return ours.lineage.utf8.elementsEqual(deleted.lineage.utf8)
            && deleted.counter >= ours.counter
    }
}
