/// The checksum of a stored document, the only means to detect damage that leaves valid BSON.
///
/// Every write of a row stores the checksum of its document.
enum DocumentChecksum {
    /// Returns the checksum in its stored form: signed, because SQLite then needs only four bytes.
    static func stored(_ bytes: UnsafeRawBufferPointer) -> Int64 {
        Int64(Int32(bitPattern: CRC32C.checksum(bytes)))
    }

    /// Returns the checksum of a document in its stored form.
    static func stored(_ document: BSONDocument) -> Int64 {
        document.withUnsafeBytes { stored($0) }
    }

    /// Returns the checksum in a column of the current row; `nil` if the row has none.
    static func read(_ statement: borrowing SQLiteStatement, _ column: Int32) -> Int64? {
        statement.isNull(column) ? nil : statement.int64(column)
    }

    /// Whether bytes match a checksum; true without one.
    static func fits(_ bytes: UnsafeRawBufferPointer, _ checksum: Int64?) -> Bool {
        checksum.map { $0 == stored(bytes) } ?? true
    }
}

extension StoredDocument {
    /// Returns the error for a document that does not match its checksum.
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
