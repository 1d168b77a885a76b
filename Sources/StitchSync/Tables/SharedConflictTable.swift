internal import BSONStore

/// The conflicts that wait to be sent to the server (`sync_shared`), in one transaction.
struct SharedConflictTable {
    /// The maximum number of conflicts that wait; the oldest ones are removed.
    static let countMax = 100

    let connection: SQLiteConnection

    /// A conflict that waits.
    struct Waiting: Sendable {
        let number: Int64
        let namespace: Namespace
        let document: BSONDocument
    }

    private static let deleteOfDocument = FixedStatement(
        "DELETE FROM sync_shared WHERE collection = ?1 AND key = ?2")

    /// Stores a conflict.
    func add(_ conflict: BSONDocument, of id: BSONValue, in collection: Int64) throws {
        let insert = try connection.prepare(
            "INSERT INTO sync_shared(collection, key, entry) VALUES (?1, ?2, ?3)")
        insert.bind(1, collection)
        insert.bind(2, keyOf: id)
        insert.bind(3, conflict)
        try insert.run()
        let delete = try connection.prepare(
            """
            DELETE FROM sync_shared WHERE id <=
                (SELECT id FROM sync_shared ORDER BY id DESC LIMIT 1 OFFSET ?)
            """)
        delete.bind(1, Int64(Self.countMax))
        try delete.run()
    }

    /// Returns all conflicts, the oldest first.
    func all() throws -> [Waiting] {
        let select = try connection.prepare(
            """
            SELECT sync_shared.id, namespace, entry FROM sync_shared
            JOIN sync_collections ON sync_collections.id = collection ORDER BY sync_shared.id
            """)
        var found: [Waiting] = []
        while try select.step() {
            found.append(
                Waiting(
                    number: select.int64(0), namespace: try Namespace(parsing: select.string(1)),
                    document: try select.document(at: 2, named: "shared conflict")))
        }
        return found
    }

    /// Removes conflicts.
    func remove(_ numbers: [Int64]) throws {
        for number in numbers {
            let delete = try connection.prepare("DELETE FROM sync_shared WHERE id = ?")
            delete.bind(1, number)
            try delete.run()
        }
    }

    /// Removes the conflicts of a document that leaves the device.
    func forget(_ id: BSONValue, in collection: Int64) throws {
        let delete = try connection.prepare(Self.deleteOfDocument)
        delete.bind(1, collection)
        delete.bind(2, keyOf: id)
        try delete.run()
    }
}
