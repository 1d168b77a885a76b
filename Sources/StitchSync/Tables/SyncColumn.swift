internal import BSONStore

/// A column that statements read and bind by its name.
///
/// Its raw value is its place in the result of a statement that selects the columns in the order of
/// their cases.
///
/// ```swift
/// record.revision = row.int64(Column.revision)
/// update.bind(Column.revision, record.revision)  // to "... SET revision = ?\(parameter)"
/// ```
protocol SyncColumn: RawRepresentable<Int32> {}

extension SyncColumn {
    /// The number of the column's parameter: SQLite counts parameters from 1, columns from 0.
    var parameter: Int32 { rawValue + 1 }
}

extension SQLiteStatement {
    borrowing func isNull(_ column: some SyncColumn) -> Bool { isNull(column.rawValue) }

    borrowing func int64(_ column: some SyncColumn) -> Int64 { int64(column.rawValue) }

    borrowing func string(_ column: some SyncColumn) -> String { string(column.rawValue) }

    borrowing func bytes(_ column: some SyncColumn) -> [UInt8] { bytes(column.rawValue) }

    /// Returns a document, `nil` for NULL.
    borrowing func document(_ column: some SyncColumn) throws -> BSONDocument? {
        isNull(column) ? nil : try BSONDocument(validating: bytes(column))
    }

    borrowing func bind(_ column: some SyncColumn, _ value: Int64) {
        bind(column.parameter, value)
    }

    borrowing func bind(_ column: some SyncColumn, _ value: String?) {
        bind(column.parameter, value)
    }

    borrowing func bind(_ column: some SyncColumn, _ value: BSONDocument?) {
        bind(column.parameter, value)
    }

    borrowing func bind(_ column: some SyncColumn, keyOf id: BSONValue) {
        bind(column.parameter, keyOf: id)
    }

    borrowing func bindNull(_ column: some SyncColumn) { bindNull(column.parameter) }
}
