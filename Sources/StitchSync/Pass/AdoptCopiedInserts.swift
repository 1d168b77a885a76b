internal import BSONStore

/// The confirmation of pending inserts that another copy of this file has sent (rule R12).
///
/// A file that was copied, or restored from a backup, may hold a pending insert that the original
/// sends as well. The history then names an operation of this file's former instance that this copy
/// never named. So the insert was applied, and what followed it is another client's change: a
/// delete removes the document here, instead of being undone by a second insert.
struct AdoptCopiedInserts {
    let context: PassContext

    /// Confirms the pending inserts whose own content the history reports as inserted.
    func run(_ batch: RemoteChangeBatch) async throws {
        let inserts = batch.changes.filter { !$0.isDelete && $0.operation != nil }
        guard !inserts.isEmpty else { return }
        let found = try context.snapshot { snapshot in
            let former = try FormerInstances(connection: snapshot.transaction.connection)
                .operations()
            guard !former.isEmpty else { return [RemoteChange]() }
            return try inserts.filter { change in
                guard let operation = change.operation, let count = former[operation.instance],
                    operation.sequence > count,
                    let record = try snapshot.records.record(
                        of: change.documentID, in: snapshot.collection.rowID)
                else { return false }
                let local = try snapshot.transaction.get(
                    context.namespace, id: change.documentID)
                return Self.isApplied(change, record, local)
            }
        }
        guard !found.isEmpty else { return }
        try await context.write { sync in
            for change in found {
                guard var record = try sync.record(change.documentID),
                    let local = try sync.local(change.documentID),
                    Self.isApplied(change, record, local)
                else { continue }
                record.takeBase(.sameAsLocal, change.version ?? .absent)
                try sync.save(record)
                try sync.emitChange(
                    .committed, local.documentID, from: nil, to: local, uncommitted: false)
            }
        }
    }

    /// Whether a change inserted exactly the pending insert of a record.
    private static func isApplied(
        _ change: RemoteChange, _ record: SyncRecord, _ local: BSONDocument?
    ) -> Bool {
        guard record.base == .absent, record.isPending, record.attempt == nil,
            record.pause == nil, let local, let hash = change.contentHash
        else { return false }
        return hash == local.contentHash(excluding: DocumentVersion.fieldName)
    }
}
