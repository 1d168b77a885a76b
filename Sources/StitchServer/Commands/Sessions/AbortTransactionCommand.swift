internal import BSONStore

/// Aborts a transaction.
///
/// Source: the drivers' specification "Transactions".
enum AbortTransactionCommand {
    static let definition = CommandDefinition(
        "abortTransaction", aliases: [],
        [.adminOnly, .inTransaction, .endsTransaction, .stable, .takesWriteConcern],
        fields: ["recoveryToken": .document], required: [],
        privileges: .access(.signedIn), underRules: .harmless, gateway: .abort,
        statements: nil, cursor: .none,
        .store { call, backend in
            let request = try TransactionEnd.request(call)
            try backend.runner.transactions.abort(request, call)
            return .ok
        })
}

extension TransactionTable {
    /// Aborts the transaction of a command.
    ///
    /// - Throws: the errors of ``abort(_:_:)``; the end of the command's time if it came before the
    ///   transaction's.
    func abort(_ request: TransactionRequest, _ call: CommandCall) throws(CommandFailure) {
        do throws(CommandFailure) {
            try abort(request.number, call.sessionKey)
        } catch {
            try call.checkTime()
            throw error
        }
    }
}
