/// The number and size of a capped collection's documents.
struct CappedUsage {
    private(set) var count: Int64
    private var bytes: Int64

    /// Counts the documents of a table; O(n).
    init(of table: CollectionTable, _ connection: SQLiteConnection) throws(StoreError) {
        let statement = try connection.prepareOnce(
            "SELECT count(*), total(length(doc)) FROM \(StoreSchema.tableName(table.id))")
        (count, bytes) = try statement.step() ? (statement.int64(0), statement.int64(1)) : (0, 0)
    }

    /// Whether the documents exceed the bounds of their collection.
    func exceeds(_ capped: CollectionOptions.Capped) -> Bool {
        bytes > capped.bytesMax || count > capped.documentsMax ?? .max
    }

    mutating func add(byteCount: Int) {
        count += 1
        bytes += Int64(byteCount)
    }

    mutating func remove(_ document: BSONDocument) {
        count -= 1
        bytes -= Int64(document.byteCount)
    }

    /// Returns the oldest document of a table; `nil` for an empty one.
    static func oldest(
        in table: CollectionTable, _ connection: SQLiteConnection
    ) throws(StoreError) -> StoredDocument? {
        let statement = try connection.prepare(.scanRows, table)
        guard try statement.step() else { return nil }
        let row = statement.int64(1)
        let bytes = statement.bytes(0)
        do throws(BSONError) {
            return StoredDocument(row: row, document: try BSONDocument(validating: bytes))
        } catch {
            throw StoreError(
                .corrupt, "A stored document is not valid BSON", namespace: table.namespace,
                underlying: error)
        }
    }
}
