internal import BSONStore

/// The commands and collections that multi-document transactions cannot use.
///
/// Source: MongoDB manual, "Transactions", "Operations", and "Production Considerations"; the
/// server's `transaction_validation.cpp`.
enum TransactionScope {
    /// The databases that transactions exclude.
    private static let internalDatabases: Set<String> = ["admin", "config", "local"]

    /// Checks a command before it enters a transaction, which a refusal leaves as it was.
    ///
    /// - Parameter namespaces: the collections that it names.
    /// - Throws: 263 (OperationNotSupportedInTransaction) for a command that transactions do not
    ///   have, for the databases `admin`, `config` and `local`, and for `system.profile`; 51071 for
    ///   a read of `system.views`.
    static func check(
        _ signature: CommandSignature, on namespaces: [Namespace]
    ) throws(CommandFailure) {
        guard signature.traits.contains(.inTransaction) else {
            throw refusal("Cannot run '\(signature.name)' in a multi-document transaction.")
        }
        // The cursor of a `bulkWrite` has a name in `admin`.
        for namespace in namespaces where namespace != Namespace("admin", "$cmd.bulkWrite") {
            guard !internalDatabases.contains(namespace.database) else {
                throw refusal(
                    "Cannot run command against the '\(namespace.database)' database in a "
                        + "transaction.")
            }
            guard namespace.collection != "system.profile" else {
                throw refusal(
                    "Cannot run command against the '\(namespace)' namespace in a transaction.")
            }
            guard signature.traits.contains(.writes) || namespace.collection != "system.views"
            else {
                throw CommandFailure(
                    51071, "Cannot read from the collection '\(namespace)' in a transaction")
            }
        }
    }

    /// Checks that a transaction may write to a collection.
    ///
    /// - Throws: 50791 for a collection of the system.
    static func checkWrite(
        to namespace: Namespace, _ call: CommandCall
    ) throws(CommandFailure) {
        guard isExcluded(namespace, call) else { return }
        throw CommandFailure(
            50791, "Cannot write to system collection \(namespace) within a transaction.")
    }

    /// Checks that a transaction may create a collection, or indexes of one.
    ///
    /// - Throws: 263 for a collection of the system.
    static func checkCreation(
        of namespace: Namespace, _ call: CommandCall
    ) throws(CommandFailure) {
        guard isExcluded(namespace, call) else { return }
        throw refusal(
            "Cannot create system collection \(namespace) within a transaction.")
    }

    /// Whether a transaction meets a collection of the system.
    private static func isExcluded(_ namespace: Namespace, _ call: CommandCall) -> Bool {
        call.transaction?.isTransaction == true && namespace.collection.hasBytePrefix("system.")
    }

    private static func refusal(_ message: String) -> CommandFailure {
        CommandFailure(.operationNotSupportedInTransaction, message)
    }
}
