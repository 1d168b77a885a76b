internal import BSONStore

/// Commits a transaction.
///
/// Source: the drivers' specification "Transactions".
enum CommitTransactionCommand {
    static let definition = CommandDefinition(
        "commitTransaction", aliases: [],
        [.adminOnly, .inTransaction, .endsTransaction, .stable, .takesWriteConcern],
        fields: ["recoveryToken": .document, "commitTimestamp": .any, "participantList": .array],
        required: [],
        privileges: .access(.signedIn), underRules: .harmless, gateway: .commit,
        statements: nil, cursor: .none,
        .store { call, backend in
            let request = try TransactionEnd.request(call)
            let session = call.sessionKey
            do {
                try backend.runner.transactions.commit(request.number, session) {
                    guard let known = try backend.runner.logEntry(session) else { return false }
                    return known.isTransaction && known.number == request.number
                }
            } catch let error as StoreError where error.code == .closed {
                throw TransactionFailures.transient(TransactionFailures.aborted(request.number))
            } catch let fault as CommandFailure where fault.code == 251 {
                throw TransactionFailures.transient(fault)
            }
            return .ok
        })
}

/// The checks of the commands that end transactions.
enum TransactionEnd {
    /// - Throws: 251 (NoSuchTransaction) outside of a transaction.
    static func request(_ call: CommandCall) throws(CommandFailure) -> TransactionRequest {
        guard let request = call.transaction, request.isTransaction else {
            throw CommandFailure(251, "Transaction isn't in progress")
        }
        return request
    }
}
