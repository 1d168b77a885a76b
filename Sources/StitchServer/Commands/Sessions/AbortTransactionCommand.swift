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
            try backend.runner.transactions.abort(request.number, call.sessionKey)
            return .ok
        })
}
