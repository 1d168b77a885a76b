/// Tells bytes of a document that changed in the file from those that were written: damage that leaves
/// valid BSON is seen by nothing else.
///
/// Every write of a row stores the checksum of its document. A row that was last written by a version
/// without checksums has none until it is written again.
enum DocumentChecksum {
    /// The checksum as it is stored: signed, since SQLite keeps it in four bytes then.
    static func stored(_ bytes: UnsafeRawBufferPointer) -> Int64 {
        Int64(Int32(bitPattern: CRC32C.checksum(bytes)))
    }

    /// The checksum of a document as it is stored.
    static func stored(_ document: BSONDocument) -> Int64 {
        document.withUnsafeBytes { stored($0) }
    }

    /// The checksum in a column of the current row; `nil` where none is known.
    static func read(_ statement: borrowing SQLiteStatement, _ column: Int32) -> Int64? {
        statement.isNull(column) ? nil : statement.int64(column)
    }

    /// Whether bytes have a checksum that is known.
    static func fits(_ bytes: UnsafeRawBufferPointer, _ checksum: Int64?) -> Bool {
        checksum.map { $0 == stored(bytes) } ?? true
    }

    /// What a statement selects as the checksum of a table's rows: a file of an earlier version that is
    /// open for reading only has no such column.
    static func column(
        of table: CollectionTable, _ connection: SQLiteConnection
    ) throws(StoreError) -> String {
        let name = StoreSchema.tableName(table.id)
        let found = try connection.int64(
            "SELECT 1 FROM pragma_table_info('\(name)') WHERE name = 'checksum'")
        return found == nil ? "NULL" : "checksum"
    }
}

extension StoredDocument {
    /// A document that is not what was written.
    static func altered(
        id: BSONValue?, of table: CollectionTable, _ connection: SQLiteConnection
    ) -> StoreError {
        StoreError(
            .corrupt,
            "\(connection.fileDescription) is damaged: a document does not fit its checksum. Run "
                + "`verify --quarantine`, which moves it away, and put a backup back or fetch the "
                + "document again",
            namespace: table.namespace, documentID: id)
    }
}
