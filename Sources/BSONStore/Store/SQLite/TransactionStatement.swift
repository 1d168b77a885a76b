internal import BSONStoreCSQLite

/// The statements that begin and end transactions.
enum TransactionStatement: Int, CaseIterable {
    case begin
    case beginImmediate
    case commit

    var text: String {
        switch self {
        case .begin: "BEGIN"
        case .beginImmediate: "BEGIN IMMEDIATE"
        case .commit: "COMMIT"
        }
    }
}

/// A slot for the compiled statement of a transaction's begin or end, filled on first use.
struct TransactionStatementSlot {
    private var slot: CompiledStatement?

    mutating func run(
        on connection: SQLiteConnection, _ boundary: TransactionStatement
    ) throws(StoreError) {
        let slot: CompiledStatement
        if let known = self.slot {
            slot = known
        } else {
            slot = CompiledStatement(
                handle: try connection.compile(boundary.text), fault: connection.fault)
            self.slot = slot
        }
        let result = sqlite3_step(slot.handle)
        sqlite3_reset(slot.handle)
        if result != SQLITE_DONE { throw slot.error(result) }
    }
}
