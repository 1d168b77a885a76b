internal import BSONStore

extension SyncTransaction {
    /// Stores each attempt of the open batches in its record.
    func expandAttemptBatches() throws {
        for (row, batch) in try records.attemptBatches(in: collection.rowID) {
            for member in batch.members {
                guard var record = try records.record(row: member.row)?.record,
                    record.attempt == nil
                else { continue }
                let version = Self.version(after: record.version, member.operation, member.kind)
                record.attempt = Attempt(
                    operation: member.operation,
                    intended: member.kind == .delete ? .absent : .sameAsLocal,
                    version: version.map(VersionField.version) ?? .absent, token: batch.token)
                try save(record)
            }
            _ = try records.removeAttempts(row)
        }
    }

    /// Returns the version that an attempt gives the document; `nil` for a delete.
    static func version(
        after base: VersionField, _ operation: OperationID, _ kind: AttemptBatch.Kind
    ) -> DocumentVersion? {
        switch (kind, base.version) {
        case (.delete, _): nil
        case (.insert, _), (.update, nil): DocumentVersion.first(operation: operation)
        case (.update, let base?): base.next(operation: operation)
        }
    }
}
