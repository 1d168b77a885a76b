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

// MARK: - Documents in columns

extension SQLiteStatement {
    /// Reads a document from a column that is not NULL.
    ///
    /// - Parameter name: the column's name in an error.
    borrowing func document(_ column: some SyncColumn, named name: String) throws -> BSONDocument {
        try document(at: column.rawValue, named: name)
    }

    /// Reads a document from the only column, or from a column whose place the caller knows.
    borrowing func document(at column: Int32, named name: String) throws -> BSONDocument {
        do throws(BSONError) {
            return try document(column, limits: .ofWrappers)
        } catch {
            throw SyncError.unreadable(name, error)
        }
    }
}

extension BSONLimits {
    /// The limits of the engine's own columns, which hold documents inside other documents.
    static let ofWrappers = BSONLimits(depthMax: 110, documentBytesMax: 64 * 1024 * 1024)
}

// MARK: - Damage

extension SyncError {
    /// Returns the error of a column that cannot be read.
    static func unreadable(_ column: String, _ error: (any Error)? = nil) -> SyncError {
        SyncError(.storeFailed, "a sync record's \(column) cannot be read", underlying: error)
    }

    /// Returns the error of an index with rows out of order or wrong rows.
    static func disordered(_ table: String) -> SyncError {
        SyncError(
            .storeFailed,
            "the file is damaged: an index of \(table) gives wrong rows. Run `verify`, and put a "
                + "backup back or sync into a new file")
    }
}
