internal import BSONStoreCSQLite

extension StoreError {
    /// Maps a result code of SQLite with the connection's message.
    ///
    /// Source: https://www.sqlite.org/rescode.html
    init(sqlite result: Int32, on handle: OpaquePointer?, doing action: String = "") {
        if result & 0xFF == SQLITE_INTERRUPT, let fault = WorkBudget.current?.fault {
            self = fault
            return
        }
        let text = handle.map { String(cString: sqlite3_errmsg($0)) }
        let reason = text ?? String(cString: sqlite3_errstr(result))
        self.init(
            Self.code(sqlite: result, reason: reason),
            action.isEmpty ? "SQLite: \(reason)" : "SQLite: \(reason) (\(action))",
            sqliteCode: result)
    }

    private static func code(sqlite result: Int32, reason: String) -> Code {
        switch result & 0xFF {
        case SQLITE_CORRUPT: return .corrupt
        case SQLITE_NOTADB: return .notADatabase
        case SQLITE_FULL: return .diskFull
        case SQLITE_READONLY: return .readOnly
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: return .busy
        case SQLITE_IOERR: return .ioError
        case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH: return .cannotOpen
        case SQLITE_NOMEM: return .exceededMemoryLimit
        case SQLITE_INTERRUPT: return .interrupted
        case SQLITE_TOOBIG: return .documentTooLarge
        case SQLITE_CONSTRAINT: return .duplicateKey
        case SQLITE_ERROR where reason.hasBytePrefix("no such table"): return .namespaceNotFound
        default: return .internalError
        }
    }
}
