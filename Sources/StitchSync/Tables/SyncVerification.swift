internal import BSONStore

/// The structural check of one collection, see Docs/SYNC.md, "Structural check".
struct SyncVerification {
    let transaction: ReadTransaction
    let collection: SyncCollectionState
    let membership: Membership

    private var records: SyncRecordTable { SyncRecordTable(connection: transaction.connection) }

    func findings() throws -> [SyncFinding] {
        var findings: [SyncFinding] = []
        for row in try rowIDs() { try check(row, &findings) }
        try transaction.forEach(collection.namespace) { document in
            let id = document.documentID
            if document[DocumentVersion.fieldName] != nil {
                findings.append(finding(.versionInContent, id, "it holds a version field"))
            }
            if try !hasRecord(id) {
                findings.append(finding(.documentWithoutRecord, id, "it is not kept in step"))
            }
        }
        for altered in try transaction.alteredDocuments(collection.namespace) {
            findings.append(
                finding(
                    .damagedDocument, altered.documentID,
                    "it does not fit its checksum (row \(altered.row)); `verify --quarantine` moves "
                        + "it away, and sync fetches the remote's edition"))
        }
        try checkEvents(&findings)
        try checkRejections(&findings)
        return findings
    }

    private func check(_ row: Int64, _ findings: inout [SyncFinding]) throws {
        let record: SyncRecord
        let key: [UInt8]
        do {
            guard let found = try records.entry(inRow: row) else { return }
            (record, key) = found
        } catch let error as SyncError {
            findings.append(finding(.unreadableRecord, nil, error.message))
            return
        }
        let id = record.documentID
        guard key == BSONKey.encode(id) else {
            findings.append(finding(.keyMismatch, id, "its record is filed under another key"))
            return
        }
        let local = try transaction.get(collection.namespace, id: id)
        if record.isRowMissing(local: local) || record.pause?.code == .localDocumentMissing {
            findings.append(
                finding(.localDocumentMissing, id, "it is missing, and no delete is recorded"))
            return
        }
        let isAtBase = contentEqual(record.base.document(local: local), local)
        // With an open attempt, the document may equal its base again.
        if record.isPending, isAtBase, record.attempt == nil {
            findings.append(finding(.queuedWithoutChange, id, "there is no change to send"))
        }
        if !record.isPending, !isAtBase {
            findings.append(
                finding(.changeNotQueued, id, "it differs from the base and is not queued"))
        }
        if !record.isKeptByID, !record.isPending, record.staleMark == 0, record.attempt == nil,
            record.pause == nil, let local, !membership.mayKeep(local)
        {
            findings.append(finding(.unclaimedDocument, id, "no id and no subscription keeps it"))
        }
        if record.attempt != nil, !record.isPending {
            findings.append(finding(.strayAttempt, id, "an attempt is open, no change is queued"))
        }
    }

    private func checkEvents(_ findings: inout [SyncFinding]) throws {
        var last: Int64 = 0
        do {
            while true {
                let events = try EventOutbox.next(
                    limit: EventOutbox.eventsPerRead, after: last, of: collection.namespace,
                    in: transaction.connection)
                guard let newest = events.last else { break }
                last = newest.sequence
            }
            try checkEnd(last, &findings)
        } catch let error as SyncError {
            findings.append(finding(.unreadableRecord, nil, error.message))
        } catch let error as BSONError {
            findings.append(
                finding(.unreadableRecord, nil, "an event after \(last) cannot be read: \(error)"))
        }
    }

    private func checkRejections(_ findings: inout [SyncFinding]) throws {
        for state in [RejectedWriteRecord.State.reverted, .paused, .asking] {
            do {
                _ = try RejectedWriteTable(connection: transaction.connection)
                    .all(state, in: collection)
            } catch let error as SyncError {
                findings.append(finding(.unreadableRecord, nil, error.message))
            }
        }
    }

    /// Checks the last sequence number: listeners store their positions by these numbers, which
    /// must not be assigned twice.
    private func checkEnd(_ last: Int64, _ findings: inout [SyncFinding]) throws {
        let end = try transaction.connection.int64(
            "SELECT seq FROM sqlite_sequence WHERE name = 'sync_events'")
        if last > end ?? 0 {
            findings.append(
                finding(.eventAfterEnd, nil, "event \(last) was never given out, \(end ?? 0) was"))
        }
    }

    private func rowIDs() throws -> [Int64] {
        let select = try transaction.connection.prepare(
            "SELECT id FROM sync_documents WHERE collection = ?")
        select.bind(1, collection.rowID)
        var rows: [Int64] = []
        while try select.step() { rows.append(select.int64(0)) }
        return rows.sorted()
    }

    private func hasRecord(_ id: BSONValue) throws -> Bool {
        let select = try transaction.connection.prepare(
            "SELECT 1 FROM sync_documents WHERE collection = ? AND key = ?")
        select.bind(1, collection.rowID)
        select.bind(2, BSONKey.encode(id))
        return try select.step()
    }

    private func finding(
        _ kind: SyncFinding.Kind, _ id: BSONValue?, _ message: String
    ) -> SyncFinding {
        SyncFinding(
            kind: kind, namespace: collection.namespace, documentID: id, message: message)
    }
}
