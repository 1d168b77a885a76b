internal import BSONStore

/// The references in documents that left the device without a delete (`sync_left`): their files may not
/// be at the remote yet.
struct LeftReferenceTable {
    let connection: SQLiteConnection

    /// The references of one document.
    struct Left: Sendable {
        let row: Int64
        let namespace: Namespace
        let documentID: BSONValue
        let references: [Attachment]
    }

    private static let columns = "sync_left.id, namespace, entry"
    private static let tables =
        "sync_left JOIN sync_collections ON sync_collections.id = sync_left.collection"
    private static let selectPage = FixedStatement(
        "SELECT \(columns) FROM \(tables) WHERE sync_left.id > ?1 ORDER BY sync_left.id LIMIT ?2")
    private static let selectOne = FixedStatement(
        "SELECT \(columns) FROM \(tables) WHERE namespace = ?1 AND key = ?2")
    private static let selectNewest = FixedStatement(
        "SELECT id FROM sync_left ORDER BY id DESC LIMIT 1")
    private static let insert = FixedStatement(
        "INSERT OR REPLACE INTO sync_left(collection, key, entry) VALUES (?1, ?2, ?3)")
    private static let deleteOfDocument = FixedStatement(
        "DELETE FROM sync_left WHERE collection = ?1 AND key = ?2")
    private static let deleteRow = FixedStatement("DELETE FROM sync_left WHERE id = ?1")

    /// Stores the references of a document in place of earlier ones; none removes the row.
    func set(_ references: [Attachment], of id: BSONValue, in collection: Int64) throws {
        guard !references.isEmpty else {
            let delete = try connection.prepare(Self.deleteOfDocument)
            delete.bind(1, collection)
            delete.bind(2, keyOf: id)
            return try delete.run()
        }
        let insert = try connection.prepare(Self.insert)
        insert.bind(1, collection)
        insert.bind(2, keyOf: id)
        insert.bind(
            3,
            ["_id": id, "references": .array(BSONArray(references.map(\.bsonValue)))])
        try insert.run()
    }

    /// Returns the newest row; `nil` where no references are stored.
    func newest() throws -> Int64? {
        let select = try connection.prepare(Self.selectNewest)
        return try select.step() ? select.int64(0) : nil
    }

    /// Returns rows after a row, in order.
    func page(after row: Int64, limit: Int) throws -> [Left] {
        let select = try connection.prepare(Self.selectPage)
        select.bind(1, row)
        select.bind(2, Int64(limit))
        var found: [Left] = []
        while try select.step() { found.append(try Self.left(select)) }
        return found
    }

    /// Returns the references of a document; empty where none are stored.
    func references(of id: BSONValue, in namespace: Namespace) throws -> [Attachment] {
        let select = try connection.prepare(Self.selectOne)
        select.bind(1, namespace.description)
        select.bind(2, keyOf: id)
        return try select.step() ? Self.left(select).references : []
    }

    /// Removes rows; a document that left again meanwhile has another one.
    func remove(_ rows: [Int64]) throws {
        for row in rows {
            let delete = try connection.prepare(Self.deleteRow)
            delete.bind(1, row)
            try delete.run()
        }
    }

    private static func left(_ select: borrowing SQLiteStatement) throws -> Left {
        let entry = try select.document(at: 2, named: "references of a document that left")
        guard let references = entry["references"]?.arrayValue else {
            throw SyncError.unreadable("references")
        }
        return Left(
            row: select.int64(0), namespace: try Namespace(parsing: select.string(1)),
            documentID: entry.documentID,
            references: references.values.compactMap { Attachment(bson: $0) })
    }
}
