internal import BSONStore

/// Aborts a transaction.
///
/// Source: the drivers' specification "Transactions".
enum AbortTransactionCommand {
    static let rule = CommandDefinition(
        "abortTransaction",
        [.adminOnly, .inTransaction, .endsTransaction, .stable, .takesWriteConcern],
        fields: ["recoveryToken": .document],
        .store { call, store in
            let request = try TransactionEnd.request(call)
            try store.runner.transactions.abort(request.number, call.sessionKey)
            return .ok
        })
}
