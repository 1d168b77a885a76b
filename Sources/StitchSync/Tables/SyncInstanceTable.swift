internal import BSONStore

/// The table of the store's instance (`sync_instance`) in one transaction: it has one row, with
/// the numbers that the whole store counts up.
///
/// An instance is one life of a store's file; a copy of the file begins another (rule R12).
struct SyncInstanceTable {
    let connection: SQLiteConnection
}

extension SyncInstanceTable {
    /// Returns new ids for attempts; no id is returned twice.
    func nextOperations(_ count: Int) throws -> [OperationID] {
        let last = try number(
            "UPDATE sync_instance SET operations = operations + ?1 RETURNING operations",
            adding: Int64(count))
        let first = last - Int64(count) + 1
        let instance = try instance()
        return (0..<Int64(count)).map {
            OperationID(instance: instance, sequence: UInt64(bitPattern: first + $0))
        }
    }

    /// Returns the last operation that was named; its number is 0 before the first one.
    func last() throws -> OperationID {
        OperationID(
            instance: try instance(),
            sequence: UInt64(bitPattern: try number("SELECT operations FROM sync_instance")))
    }

    /// Returns a number of a transaction that is greater than all earlier ones.
    ///
    /// Stale marks are such numbers. The file names a record's stale mark `hint`, and the newest number
    /// of the store `hints`.
    func nextTransactionNumber() throws -> Int64 {
        try number("UPDATE sync_instance SET hints = hints + ?1 RETURNING hints", adding: 1)
    }

    /// Returns the instance's number, a part of the ids of its operations.
    private func instance() throws -> UInt64 {
        UInt64(bitPattern: try number("SELECT instance FROM sync_instance"))
    }

    /// Runs a statement that returns one number.
    private func number(_ sql: String, adding increment: Int64? = nil) throws -> Int64 {
        let statement = try connection.prepare(sql)
        if let increment { statement.bind(1, increment) }
        guard try statement.step() else {
            throw SyncError(.storeFailed, "the sync tables lack the instance's row")
        }
        let number = statement.int64(0)
        // Ends the UPDATE: SQLite cannot commit while a statement still has a row to return.
        try statement.run()
        return number
    }
}
