internal import BSONStoreCSQLite

/// The owner of a compiled statement, shared by the cache and its current user.
final class CompiledStatement {
    nonisolated(unsafe) static let emptyText: UnsafePointer<CChar> = {
        let text = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
        text.initialize(to: 0)
        return UnsafePointer(text)
    }()

    let handle: OpaquePointer
    var isInUse = false
    private(set) var bindResult = SQLITE_OK

    private let fault: TransactionFault

    init(handle: OpaquePointer, fault: TransactionFault) {
        self.handle = handle
        self.fault = fault
    }

    deinit { sqlite3_finalize(handle) }

    func note(_ result: Int32) {
        precondition(result != SQLITE_RANGE, "a parameter that the statement does not have")
        if result != SQLITE_OK { bindResult = result }
    }

    /// Releases the row and the bound values.
    func rest() {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
        bindResult = SQLITE_OK
        isInUse = false
    }

    /// Returns the error for a result code and blocks a transaction that it damaged.
    func error(_ result: Int32) -> StoreError {
        let error = StoreError(sqlite: result, on: sqlite3_db_handle(handle))
        fault.note(error, from: handle)
        return error
    }
}
