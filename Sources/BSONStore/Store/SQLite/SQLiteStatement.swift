internal import BSONStoreCSQLite

/// A running SQL statement, which returns to its connection's cache at the end of its scope.
///
/// Parameters are counted from 1, columns from 0. Two threads must not use it concurrently.
package struct SQLiteStatement: ~Copyable {
    private let slot: CompiledStatement

    init(slot: CompiledStatement) {
        self.slot = slot
        slot.isInUse = true
    }

    deinit { slot.rest() }

    /// Binds an integer to a parameter.
    package borrowing func bind(_ parameter: Int32, _ value: Int64) {
        slot.note(sqlite3_bind_int64(slot.handle, parameter, value))
    }

    /// Binds a floating-point number to a parameter.
    package borrowing func bind(_ parameter: Int32, _ value: Double) {
        slot.note(sqlite3_bind_double(slot.handle, parameter, value))
    }

    /// Binds a copy of a string to a parameter, NULL for `nil`.
    package borrowing func bind(_ parameter: Int32, _ value: String?) {
        guard var value else { return bindNull(parameter) }
        let result = value.withUTF8 { text in
            text.withMemoryRebound(to: CChar.self) { characters in
                sqlite3_bind_text(
                    slot.handle, parameter, characters.baseAddress ?? Self.emptyText,
                    Int32(characters.count), Self.transient)
            }
        }
        slot.note(result)
    }

    /// Binds a copy of bytes to a parameter, NULL for `nil`.
    package borrowing func bind(_ parameter: Int32, _ value: [UInt8]?) {
        guard let value else { return bindNull(parameter) }
        value.withUnsafeBytes { bytes in bind(parameter, bytes, Self.transient) }
    }

    /// Binds a copy of a document's bytes to a parameter, NULL for `nil`.
    package borrowing func bind(_ parameter: Int32, _ value: BSONDocument?) {
        guard let value else { return bindNull(parameter) }
        value.withUnsafeBytes { bytes in bind(parameter, bytes, Self.transient) }
    }

    /// Binds bytes without a copy; they must stay in place until the statement is reset.
    package borrowing func bind(_ parameter: Int32, lending value: UnsafeRawBufferPointer) {
        bind(parameter, value, nil)
    }

    /// Binds NULL to a parameter.
    package borrowing func bindNull(_ parameter: Int32) {
        slot.note(sqlite3_bind_null(slot.handle, parameter))
    }

    /// Moves to the next row; returns `false` at the end.
    ///
    /// - Throws: SQLite's errors as ``StoreError``, including that of a failed binding.
    package borrowing func step() throws(StoreError) -> Bool {
        if slot.bindResult != SQLITE_OK { throw slot.error(slot.bindResult) }
        let result = sqlite3_step(slot.handle)
        if result == SQLITE_ROW { return true }
        if result == SQLITE_DONE { return false }
        throw slot.error(result)
    }

    /// Runs the statement to its end, ignoring rows, and resets it.
    package borrowing func run() throws(StoreError) {
        while try step() {}
        reset()
    }

    /// Resets the statement so that it can run again; bound values stay.
    package borrowing func reset() { sqlite3_reset(slot.handle) }

    /// Whether the column is NULL in the current row.
    package borrowing func isNull(_ column: Int32) -> Bool {
        sqlite3_column_type(slot.handle, column) == SQLITE_NULL
    }

    /// Returns the column as an integer, 0 for NULL.
    package borrowing func int64(_ column: Int32) -> Int64 {
        sqlite3_column_int64(slot.handle, column)
    }

    /// Returns the column as a floating-point number, 0 for NULL.
    package borrowing func double(_ column: Int32) -> Double {
        sqlite3_column_double(slot.handle, column)
    }

    /// Returns the column as a string, empty for NULL.
    package borrowing func string(_ column: Int32) -> String {
        guard let text = sqlite3_column_text(slot.handle, column) else { return "" }
        let count = Int(sqlite3_column_bytes(slot.handle, column))
        return String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
    }

    /// Returns a copy of the column's bytes, empty for NULL.
    package borrowing func bytes(_ column: Int32) -> [UInt8] {
        withBytes(column) { Array($0) }
    }

    /// Calls a body with the column's bytes, which are valid until the next step or reset.
    package borrowing func withBytes<R, E: Error>(
        _ column: Int32, _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        // One access for pointer and size; an unprotected value is safe because only this thread
        // uses it.
        let value = sqlite3_column_value(slot.handle, column)
        let start = sqlite3_value_blob(value)
        let count = Int(sqlite3_value_bytes(value))
        bsonstore_prefetch(start, count)
        return try body(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
    }

    /// Binds the unique key of an id.
    package borrowing func bind(_ parameter: Int32, keyOf id: BSONValue) {
        BSONKey.lend(id) { bind(parameter, $0, Self.transient) }
    }

    /// Returns the id of a key that encodes it completely, as an ObjectId's does; `nil` for others.
    package borrowing func objectID(ofKey column: Int32) -> BSONObjectID? {
        withBytes(column) { key in
            guard key.count == 13, key[0] == BSONKey.classByte(of: .objectID) else { return nil }
            let high = key.loadUnaligned(fromByteOffset: 1, as: UInt64.self)
            let low = key.loadUnaligned(fromByteOffset: 9, as: UInt32.self)
            return BSONObjectID(
                bigEndianHigh: UInt64(bigEndian: high), low: UInt32(bigEndian: low))
        }
    }

    /// Returns a copy of the column as a document.
    ///
    /// - Throws: the first error of bytes that are not a valid document.
    package borrowing func document(
        _ column: Int32, limits: BSONLimits
    ) throws(BSONError) -> BSONDocument {
        try withBytes(column) { (bytes) throws(BSONError) in
            try BSONDocument(validating: bytes, limits: limits)
        }
    }

    private borrowing func bind(
        _ parameter: Int32, _ value: UnsafeRawBufferPointer,
        _ destructor: sqlite3_destructor_type?
    ) {
        let start = value.baseAddress ?? UnsafeRawPointer(Self.emptyText)
        slot.note(
            sqlite3_bind_blob64(
                slot.handle, parameter, start, sqlite3_uint64(value.count), destructor))
    }

    /// The marker `SQLITE_TRANSIENT`, which makes SQLite copy a bound value; in C it is a cast.
    private static var transient: sqlite3_destructor_type {
        unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    }

    /// A non-null pointer to an empty string, for empty values.
    private static var emptyText: UnsafePointer<CChar> { CompiledStatement.emptyText }
}
