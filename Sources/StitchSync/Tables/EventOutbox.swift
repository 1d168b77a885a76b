internal import BSONStore

/// The table of events, which are stored in the transaction that caused them until they are
/// delivered (rule R11).
enum EventOutbox {
    /// The number of events in one read.
    static let eventsPerRead = 100

    /// The columns of an event, in the order in which statements select them.
    private enum Column: Int32, SyncColumn {
        case id
        case event
    }

    /// Appends an event; its row's number becomes its sequence number.
    static func append(
        _ event: ChangeEvent<BSONDocument>, collection: Int64, in connection: SQLiteConnection
    ) throws {
        let insert = try connection.prepare(
            "INSERT INTO sync_events(collection, event) VALUES (?, ?)")
        insert.bind(1, collection)
        insert.bind(2, document(of: event).bytes)
        try insert.run()
    }

    /// The number of bytes of events after which a read ends.
    private static let bytesMax = 4 * 1024 * 1024

    /// Returns the oldest events of a collection after a sequence number, in order.
    static func next(
        limit: Int, after sequence: Int64, of namespace: Namespace,
        in connection: SQLiteConnection
    ) throws -> [ChangeEvent<BSONDocument>] {
        let select = try connection.prepare(
            """
            SELECT id, event FROM sync_events
            WHERE collection = (SELECT id FROM sync_collections WHERE namespace = ?)
                AND id > ? ORDER BY id LIMIT ?
            """)
        select.bind(1, namespace.description)
        select.bind(2, sequence)
        select.bind(3, Int64(limit))
        var events: [ChangeEvent<BSONDocument>] = []
        var byteCount = 0
        while byteCount < bytesMax, try select.step() {
            let id = select.int64(Column.id)
            guard id > events.last?.sequence ?? sequence else {
                throw SyncError.disordered("sync_events")
            }
            let document = try BSONDocument(
                validating: select.bytes(Column.event), limits: .ofWrappers)
            byteCount += document.byteCount
            events.append(try event(document, sequence: id, namespace: namespace))
        }
        select.reset()
        return events
    }

    /// Removes a collection's delivered events up to a sequence number.
    static func forget(
        upTo sequence: Int64, of namespace: Namespace, in connection: SQLiteConnection
    ) throws {
        let delete = try connection.prepare(
            """
            DELETE FROM sync_events
            WHERE collection = (SELECT id FROM sync_collections WHERE namespace = ?) AND id <= ?
            """)
        delete.bind(1, namespace.description)
        delete.bind(2, sequence)
        try delete.run()
    }

    private static func document(of event: ChangeEvent<BSONDocument>) -> BSONDocument {
        var document: BSONDocument = [
            "type": .string(event.operationType.rawValue),
            "reason": .string(event.reason.rawValue), "id": event.documentID,
            "uncommitted": .bool(event.hasUncommittedWrites),
        ]
        if let full = event.fullDocument { document.append("document", .document(full)) }
        if let update = event.updateDescription {
            document.append("updated", .document(update.updatedFields))
            document.append(
                "removed", .array(BSONArray(update.removedFields.map(BSONValue.string))))
        }
        return document
    }

    private static func event(
        _ document: BSONDocument, sequence: Int64, namespace: Namespace
    ) throws -> ChangeEvent<BSONDocument> {
        guard
            let type = document["type"]?.stringValue
                .flatMap(OperationType.init),
            let reason = document["reason"]?.stringValue
                .flatMap(ChangeReason.init),
            let id = document["id"], let uncommitted = document["uncommitted"]?.boolValue
        else {
            throw SyncError(
                .storeFailed, "event \(sequence) cannot be read", namespace: namespace)
        }
        let update = document["updated"]?.documentValue.map { updated in
            UpdateDescription(
                updatedFields: updated,
                removedFields: document["removed"]?.arrayValue?.compactMap(\.stringValue) ?? [])
        }
        return ChangeEvent(
            sequence: sequence, operationType: type, reason: reason, namespace: namespace,
            documentID: id, fullDocument: document["document"]?.documentValue,
            updateDescription: update, hasUncommittedWrites: uncommitted)
    }
}
