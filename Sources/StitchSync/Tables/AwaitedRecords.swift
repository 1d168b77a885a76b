internal import BSONStore

/// The records of a store that passes can settle.
struct AwaitedRecords {
    let transaction: ReadTransaction

    /// Whether no pass can settle any record, of one collection or of all.
    func isEmpty(
        _ selections: [RecordSelection], in namespace: Namespace?
    ) throws -> Bool {
        let records = SyncRecordTable(connection: transaction.connection)
        let collections = try SyncCollectionTable(connection: transaction.connection).all()
        for collection in collections
        where namespace == nil || collection.namespace == namespace {
            for selection in selections {
                if try Self.isAwaited(selection, records, in: collection.rowID) { return false }
            }
        }
        return true
    }

    /// Whether a pass can settle a record of a kind.
    ///
    /// It cannot send a change of a document with a foreign version field.
    private static func isAwaited(
        _ selection: RecordSelection, _ records: SyncRecordTable, in collection: Int64
    ) throws -> Bool {
        guard try records.count(selection, in: collection) > 0 else { return false }
        guard selection == .unsent else { return true }
        var last: Int64 = 0
        while true {
            let batch = try records.page(of: selection, in: collection, after: last, limit: 100)
            guard let row = batch.last?.rowID else { return false }
            if batch.contains(where: { !waitsForForeignVersion($0) }) { return true }
            last = row
        }
    }

    /// Returns whether a record only waits for an upload that its foreign version field forbids.
    private static func waitsForForeignVersion(_ record: SyncRecord) -> Bool {
        guard case .foreign = record.version else { return false }
        return record.attempt == nil && record.staleMark == 0
    }
}
