internal import BSONStoreCSQLite

/// Holds one connection to a database file with its cache of compiled statements.
///
/// A connection is used by one thread at a time; its owner sees to that with a lock. That is why it
/// may be sent between threads.
package final class SQLiteConnection: @unchecked Sendable {
    /// How many compiled statements are kept; beyond it the cache starts anew.
    static let statementsMax = 512
    /// Statements with numbers up to this are kept without limit: those of collections, then those
    /// whose numbers are given out by ``reserveNumbers(_:)``.
    static let numberedStatementsMax = 4_096
    static let collectionStatementsMax = 2_048

    let handle: OpaquePointer
    private var slots: [String: CompiledStatement] = [:]
    private var numberedSlots: [CompiledStatement?] = []
    private var fixedSlots: [CompiledStatement?] = []
    private var nextNumber = collectionStatementsMax
    var boundaries = Array(
        repeating: TransactionStatementSlot(), count: TransactionStatement.allCases.count)
    /// Where the index of the write-ahead log is mapped; `nil` when it is not shared memory.
    var walIndex: UnsafeRawPointer?
    /// What the connection knows of the store's collections and indexes.
    let catalogCache = CatalogCache()
    /// Whether a transaction that somebody may still use was begun.
    var isInScope = false
    /// Why the transaction cannot go on: SQLite gave it up, or part of a write is missing.
    private(set) var fault: StoreError?
    private(set) var hasFault = false

    /// Opens a file, or memory for `":memory:"`, without changing any setting.
    ///
    /// - Parameter fileSystem: the name of SQLite's layer over the system's files, `nil` for its own.
    /// - Throws: `cannotOpen` and what else SQLite says; a file that is no database is noticed by
    ///   the first statement, not here.
    init(
        path: String, mode: SQLiteOpenMode, fileSystem: String? = nil
    ) throws(StoreError) {
        var opened: OpaquePointer?
        let result = sqlite3_open_v2(mode.fileName(path), &opened, mode.flags, fileSystem)
        guard result == SQLITE_OK, let opened else {
            let error = StoreError(sqlite: result, on: opened, doing: "opening \(path)")
            sqlite3_close_v2(opened)
            throw error
        }
        handle = opened
    }

    deinit {
        slots.removeAll()
        numberedSlots.removeAll()
        fixedSlots.removeAll()
        boundaries.removeAll()
        sqlite3_close_v2(handle)
    }

    /// Compiles a statement, or takes it from the cache unless it is running there.
    ///
    /// - Throws: SQLite's errors about the text.
    package func prepare(_ sql: String) throws(StoreError) -> SQLiteStatement {
        if hasFault, let fault { throw fault }
        let cached = slots[sql]
        if let cached, !cached.isInUse { return SQLiteStatement(slot: cached) }
        let slot = CompiledStatement(handle: try compile(sql), connection: self)
        if cached == nil {
            if slots.count >= Self.statementsMax { slots.removeAll(keepingCapacity: true) }
            slots[sql] = slot
        }
        return SQLiteStatement(slot: slot)
    }

    /// Takes a statement by its number, which stands for its text.
    ///
    /// - Parameter text: called when there is none under the number yet.
    /// - Throws: SQLite's errors about the text.
    func prepare(
        numbered number: Int, _ text: () -> String
    ) throws(StoreError) -> SQLiteStatement {
        if hasFault, let fault { throw fault }
        if number < numberedSlots.count, let slot = numberedSlots[number], !slot.isInUse {
            return SQLiteStatement(slot: slot)
        }
        let slot = CompiledStatement(handle: try compile(text()), connection: self)
        while numberedSlots.count <= number { numberedSlots.append(nil) }
        if numberedSlots[number] == nil { numberedSlots[number] = slot }
        return SQLiteStatement(slot: slot)
    }

    /// Takes a statement that is known by its place, without looking at its text.
    ///
    /// - Throws: SQLite's errors about the text.
    package func prepare(_ statement: FixedStatement) throws(StoreError) -> SQLiteStatement {
        if hasFault, let fault { throw fault }
        let place = statement.place
        if place < fixedSlots.count, let slot = fixedSlots[place], !slot.isInUse {
            return SQLiteStatement(slot: slot)
        }
        let slot = CompiledStatement(handle: try compile(statement.sql), connection: self)
        while fixedSlots.count <= place { fixedSlots.append(nil) }
        if fixedSlots[place] == nil { fixedSlots[place] = slot }
        return SQLiteStatement(slot: slot)
    }

    /// Returns the first of so many numbers that no statement has had; `nil` when none are left.
    func reserveNumbers(_ count: Int) -> Int? {
        guard nextNumber + count <= Self.numberedStatementsMax else { return nil }
        defer { nextNumber += count }
        return nextNumber
    }

    /// Runs a statement without parameters; rows are passed over.
    package func execute(_ sql: String) throws(StoreError) {
        let statement = try prepare(sql)
        try statement.run()
    }

    /// Runs a statement once without keeping it, for settings and schema.
    package func executeOnce(_ sql: String) throws(StoreError) {
        if hasFault, let fault { throw fault }
        let slot = CompiledStatement(handle: try compile(sql), connection: self)
        let statement = SQLiteStatement(slot: slot)
        try statement.run()
    }

    /// Returns the first column of the first row as a whole number, `nil` without a row.
    package func int64(_ sql: String) throws(StoreError) -> Int64? {
        let statement = try prepare(sql)
        return try statement.step() ? statement.int64(0) : nil
    }

    /// The rowid of the row that was inserted last.
    package var lastInsertedRowID: Int64 { sqlite3_last_insert_rowid(handle) }

    /// How many rows the last statement inserted, updated or deleted.
    package var changedRowCount: Int { Int(sqlite3_changes(handle)) }

    /// Whether a transaction is open.
    package var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Ends a transaction without its changes; SQLite may have done so by itself after an error.
    package func rollback() throws(StoreError) {
        isInScope = false
        forgetFault()
        if isInTransaction { try execute("ROLLBACK") }
    }

    func forgetFault() {
        guard hasFault else { return }
        hasFault = false
        fault = nil
    }

    /// Ends the use of a transaction after an error of SQLite that may have taken a part of it.
    ///
    /// After some errors SQLite undoes the whole transaction by itself: what is written then would be
    /// committed at once. After others a write may be there without its index keys.
    ///
    /// Source: https://www.sqlite.org/lang_transaction.html, "Response To Errors Within A Transaction".
    func note(_ error: StoreError, from statement: OpaquePointer?) {
        guard isInScope, !hasFault, let code = error.sqliteCode else { return }
        switch code & 0xFF {
        case SQLITE_NOMEM, SQLITE_IOERR, SQLITE_FULL, SQLITE_INTERRUPT: break
        case SQLITE_CORRUPT, SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_NOTADB, SQLITE_TOOBIG:
            guard let statement, sqlite3_stmt_readonly(statement) == 0 else { return }
        default: return
        }
        fault = error
        hasFault = true
    }

    /// Runs a body whose changes are undone when it throws, inside of an open transaction.
    package func savepoint<R>(_ body: () throws -> R) throws -> R {
        try execute("SAVEPOINT nested")
        do {
            let result = try body()
            try execute("RELEASE nested")
            return result
        } catch {
            guard isInTransaction else { throw error }
            forgetFault()
            do throws(StoreError) {
                try execute("ROLLBACK TO nested")
                try execute("RELEASE nested")
            } catch {
                // Whatever went wrong, a half of the body may be left.
                fault = error
                hasFault = true
            }
            throw error
        }
    }

    /// A number that differs when the file was changed, also by another connection or process.
    ///
    /// Up to date only inside of a transaction.
    var dataVersion: UInt32 {
        var version: UInt32 = 0
        sqlite3_file_control(handle, nil, SQLITE_FCNTL_DATA_VERSION, &version)
        return version
    }

    func compile(_ sql: String) throws(StoreError) -> OpaquePointer {
        var compiled: OpaquePointer?
        var sql = sql
        let result = sql.withUTF8 { text in
            text.withMemoryRebound(to: CChar.self) { characters in
                sqlite3_prepare_v3(
                    handle, characters.baseAddress, Int32(characters.count),
                    UInt32(SQLITE_PREPARE_PERSISTENT), &compiled, nil)
            }
        }
        guard result == SQLITE_OK, let compiled else {
            let error = StoreError(sqlite: result, on: handle)
            note(error, from: nil)
            throw error
        }
        return compiled
    }
}
