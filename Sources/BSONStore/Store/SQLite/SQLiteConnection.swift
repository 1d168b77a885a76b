internal import BSONStoreCSQLite

/// A connection to a database file with its cache of compiled statements.
///
/// One thread at a time uses a connection; its owner ensures that with a lock. This makes it safe
/// to send between threads. Properties with `@exclusivity(unchecked)` are used for each statement,
/// as those of ``ReadTransaction`` for each document.
package final class SQLiteConnection: @unchecked Sendable {
    /// The largest number of cached statements; beyond it the cache is cleared.
    static let statementsMax = 512
    /// The limit of statement numbers, which are cached without eviction: those of collections,
    /// then those from ``reserveNumbers(_:)``.
    static let numberedStatementsMax = 4_096
    static let collectionStatementsMax = 2_048

    let handle: OpaquePointer
    @exclusivity(unchecked) private var slots: [String: CompiledStatement] = [:]
    @exclusivity(unchecked) private var numberedSlots: [CompiledStatement?] = []
    @exclusivity(unchecked) private var fixedSlots: [CompiledStatement?] = []
    private var nextNumber = collectionStatementsMax
    var boundaries = Array(
        repeating: TransactionStatementSlot(), count: TransactionStatement.allCases.count)
    /// The mapped index of the write-ahead log; `nil` when it is not shared memory.
    var walIndex: UnsafeRawPointer?
    /// The object that the connection's user keeps with it.
    @exclusivity(unchecked) var attachment: AnyObject?
    /// The reason why the transaction cannot continue.
    let fault = TransactionFault()

    /// Opens a file, or memory for `":memory:"`, without changing any setting.
    ///
    /// - Parameter fileSystem: the name of SQLite's VFS; `nil` for the default.
    /// - Throws: `cannotOpen` and other SQLite errors; only the first statement, not this call,
    ///   detects a file that is not a database.
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

    /// Returns a compiled statement, from the cache unless it is in use there.
    ///
    /// - Throws: SQLite's errors about the SQL.
    package func prepare(_ sql: String) throws(StoreError) -> SQLiteStatement {
        try fault.check()
        let cached = slots[sql]
        if let cached, !cached.isInUse { return SQLiteStatement(slot: cached) }
        let slot = CompiledStatement(handle: try compile(sql), fault: fault)
        if cached == nil {
            if slots.count >= Self.statementsMax { slots.removeAll(keepingCapacity: true) }
            slots[sql] = slot
        }
        return SQLiteStatement(slot: slot)
    }

    /// Returns the statement with a number that identifies its SQL.
    ///
    /// - Parameter text: provides the SQL on first use of the number.
    /// - Throws: SQLite's errors about the SQL.
    func prepare(
        numbered number: Int, _ text: () -> String
    ) throws(StoreError) -> SQLiteStatement {
        try fault.check()
        if number < numberedSlots.count, let slot = numberedSlots[number], !slot.isInUse {
            return SQLiteStatement(slot: slot)
        }
        let slot = CompiledStatement(handle: try compile(text()), fault: fault)
        while numberedSlots.count <= number { numberedSlots.append(nil) }
        if numberedSlots[number] == nil { numberedSlots[number] = slot }
        return SQLiteStatement(slot: slot)
    }

    /// Returns a statement by its slot, without comparing its SQL.
    ///
    /// - Throws: SQLite's errors about the SQL.
    package func prepare(_ statement: FixedStatement) throws(StoreError) -> SQLiteStatement {
        try fault.check()
        let place = statement.place
        if place < fixedSlots.count, let slot = fixedSlots[place], !slot.isInUse {
            return SQLiteStatement(slot: slot)
        }
        let slot = CompiledStatement(handle: try compile(statement.sql), fault: fault)
        while fixedSlots.count <= place { fixedSlots.append(nil) }
        if fixedSlots[place] == nil { fixedSlots[place] = slot }
        return SQLiteStatement(slot: slot)
    }

    /// Reserves consecutive unused statement numbers and returns the first; `nil` when none are
    /// left.
    func reserveNumbers(_ count: Int) -> Int? {
        guard nextNumber + count <= Self.numberedStatementsMax else { return nil }
        defer { nextNumber += count }
        return nextNumber
    }

    /// The SQL of the statements in the cache.
    package var cachedStatements: Set<String> {
        let numbered = numberedSlots.compactMap(\.self) + fixedSlots.compactMap(\.self)
        return Set(slots.keys).union(
            numbered.compactMap { slot in
                sqlite3_sql(slot.handle).map { String(cString: $0) }
            })
    }

    /// Runs a statement without parameters and ignores its rows.
    package func execute(_ sql: String) throws(StoreError) {
        let statement = try prepare(sql)
        try statement.run()
    }

    /// Runs a statement once without keeping it, for settings and schema.
    package func executeOnce(_ sql: String) throws(StoreError) {
        let statement = try prepareOnce(sql)
        try statement.run()
    }

    /// Compiles a statement without keeping it, for what runs once for each table: it would push
    /// the others out of the cache.
    ///
    /// - Throws: SQLite's errors about the SQL.
    func prepareOnce(_ sql: String) throws(StoreError) -> SQLiteStatement {
        try fault.check()
        return SQLiteStatement(
            slot: CompiledStatement(handle: try compile(sql), fault: fault))
    }

    /// Returns the first column of the first row as an integer; `nil` without a row.
    package func int64(_ sql: String) throws(StoreError) -> Int64? {
        let statement = try prepare(sql)
        return try statement.step() ? statement.int64(0) : nil
    }

    /// The rowid of the most recently inserted row.
    package var lastInsertedRowID: Int64 { sqlite3_last_insert_rowid(handle) }

    /// The number of rows that the last statement inserted, updated or deleted.
    package var changedRowCount: Int { Int(sqlite3_changes(handle)) }

    /// Whether a transaction is open.
    package var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Rolls the transaction back; SQLite may already have done so after an error.
    package func rollback() throws(StoreError) {
        fault.isInScope = false
        fault.forget()
        if isInTransaction { try execute("ROLLBACK") }
    }

    /// Runs a body in a savepoint of an open transaction; undoes its changes when it throws.
    package func savepoint<R>(_ body: () throws -> R) throws -> R {
        try execute("SAVEPOINT nested")
        do {
            let result = try body()
            try execute("RELEASE nested")
            return result
        } catch {
            guard isInTransaction else { throw error }
            fault.forget()
            do throws(StoreError) {
                try execute("ROLLBACK TO nested")
                try execute("RELEASE nested")
            } catch {
                // Whatever failed, a part of the body's changes may remain.
                fault.block(error)
            }
            throw error
        }
    }

    /// A number that changes whenever any connection or process changes the file.
    ///
    /// It is current only inside a transaction.
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
            fault.note(error, from: nil)
            throw error
        }
        return compiled
    }
}
