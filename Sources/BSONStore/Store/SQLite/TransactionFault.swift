internal import BSONStoreCSQLite

/// The reason why a connection's transaction cannot continue: SQLite undid it, or part of a write is
/// missing.
///
/// A connection shares it with its statements. A statement thus needs no weak reference to its
/// connection, which would make each retain and release of the connection several times slower.
final class TransactionFault {
    /// Whether a transaction is open and still in use.
    @exclusivity(unchecked) var isInScope = false
    /// The error; `nil` while the transaction can continue.
    private(set) var error: StoreError?
    @exclusivity(unchecked) private var isSet = false

    /// - Throws: the error, if the transaction cannot continue.
    @inline(__always)
    func check() throws(StoreError) {
        if isSet, let error { throw error }
    }

    /// Forgets the error, because the transaction or the savepoint has ended.
    func forget() {
        guard isSet else { return }
        isSet = false
        error = nil
    }

    /// Blocks further use of the transaction.
    func block(_ error: StoreError) {
        self.error = error
        isSet = true
    }

    /// Blocks further use of a transaction after an SQLite error that may have undone a part of it.
    ///
    /// After some errors SQLite rolls the whole transaction back: a later write would be committed
    /// at once. After others a write may lack its index keys.
    ///
    /// Source: https://www.sqlite.org/lang_transaction.html, "Response To Errors Within A
    /// Transaction".
    func note(_ error: StoreError, from statement: OpaquePointer?) {
        guard isInScope, !isSet, let code = error.sqliteCode else { return }
        switch code & 0xFF {
        case SQLITE_NOMEM, SQLITE_IOERR, SQLITE_FULL, SQLITE_INTERRUPT: break
        case SQLITE_CORRUPT, SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_NOTADB, SQLITE_TOOBIG:
            guard let statement, sqlite3_stmt_readonly(statement) == 0 else { return }
        default: return
        }
        block(error)
    }
}
