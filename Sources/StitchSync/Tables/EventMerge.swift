internal import BSONStore

/// The merge of the oldest events of a collection that no listener takes.
///
/// Of each document one event is left of those that are merged: what a listener needs that knows the
/// document as it was before the first; none of a document that was inserted and is gone again. So
/// stored events take at most the limits and one event for each document that the device had.
struct EventMerge {
    let connection: SQLiteConnection
    /// The row of the collection.
    let collection: Int64
    /// The number of events above which events are merged.
    let countMax: Int
    /// The number of bytes of events above which events are merged.
    let bytesMax: Int

    /// The newest event of a document so far.
    private struct Newest {
        var row: Int64
        /// Whether the document was not on the device before its first event.
        let isNew: Bool
        /// Whether the document is no longer on the device.
        var isGone = false
        var isAlone = true
    }

    /// Merges events if there are too many.
    ///
    /// Half of the limits is left of the newest events, so that not every new event causes a merge.
    ///
    /// - Returns: the number of events that are left.
    func run() throws -> Int {
        let (count, byteCount) = try size()
        guard count > countMax || byteCount > bytesMax, let last = try lastToMerge() else {
            return count
        }
        var newest: [[UInt8]: Newest] = [:]
        var merged: [Int64] = []
        let select = try connection.prepare(
            """
            SELECT id, event FROM sync_events WHERE collection = ? AND id <= ? ORDER BY id
            """)
        select.bind(1, collection)
        select.bind(2, last)
        while try select.step() {
            let (row, event) = (select.int64(0), try select.document(at: 1, named: "event"))
            let key = BSONKey.encode(event["id"] ?? .null)
            guard var known = newest[key] else {
                newest[key] = Newest(row: row, isNew: Self.beginsDocument(event))
                continue
            }
            merged.append(known.row)
            (known.row, known.isAlone) = (row, false)
            known.isGone = Self.removing.contains(event["type"]?.stringValue ?? "")
            newest[key] = known
        }
        for (key, document) in newest where document.isNew && document.isGone {
            merged.append(document.row)
            newest[key] = nil
        }
        try remove(merged)
        for document in newest.values where !document.isAlone { try rewrite(document) }
        return count - merged.count
    }

    /// Whether an event is the first of a document; the remote's confirmation of an insert and the
    /// answer to a conflict are inserts of a document that is known already.
    private static func beginsDocument(_ event: BSONDocument) -> Bool {
        let later = [ChangeReason.committed, .resolution].map(\.rawValue)
        return event["type"]?.stringValue == OperationType.insert.rawValue
            && !later.contains(event["reason"]?.stringValue ?? "")
    }

    private static let removing = [OperationType.delete, .evict].map(\.rawValue)

    private func size() throws -> (count: Int, byteCount: Int) {
        let select = try connection.prepare(
            "SELECT count(*), total(length(event)) FROM sync_events WHERE collection = ?")
        select.bind(1, collection)
        return try select.step() ? (Int(select.int64(0)), Int(select.int64(1))) : (0, 0)
    }

    /// Returns the row of the newest event that is merged.
    private func lastToMerge() throws -> Int64? {
        let select = try connection.prepare(
            """
            SELECT id, length(event) FROM sync_events WHERE collection = ? ORDER BY id DESC
            """)
        select.bind(1, collection)
        var (count, byteCount) = (0, 0)
        while try select.step() {
            count += 1
            byteCount += Int(select.int64(1))
            if count > countMax / 2 || byteCount > bytesMax / 2 { return select.int64(0) }
        }
        return nil
    }

    private func remove(_ rows: [Int64]) throws {
        let delete = try connection.prepare("DELETE FROM sync_events WHERE id = ?")
        for row in rows {
            delete.bind(1, row)
            try delete.run()
        }
    }

    /// Makes the newest event tell of all merged ones: the document is new, or replaced.
    private func rewrite(_ newest: Newest) throws {
        let select = try connection.prepare("SELECT event FROM sync_events WHERE id = ?")
        select.bind(1, newest.row)
        guard try select.step() else { return }
        var event = try select.document(at: 0, named: "event")
        select.reset()
        switch event["type"]?.stringValue.flatMap(OperationType.init) {
        case .delete, .evict, nil: return
        case .insert, .update, .replace: break
        }
        event["type"] = .string((newest.isNew ? OperationType.insert : .replace).rawValue)
        event["updated"] = nil
        event["removed"] = nil
        let update = try connection.prepare("UPDATE sync_events SET event = ? WHERE id = ?")
        update.bind(1, event)
        update.bind(2, newest.row)
        try update.run()
    }
}
