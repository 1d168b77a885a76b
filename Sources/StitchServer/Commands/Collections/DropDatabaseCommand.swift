internal import BSONStore

/// Removes all collections of a database.
enum DropDatabaseCommand {
    static let definition = CommandDefinition(
        "dropDatabase", aliases: [], .catalog,
        fields: [:], required: [],
        privileges: .access(.databaseAdministration), underRules: .refused, gateway: .upstream,
        statements: nil, cursor: .none, .store(run))

    private static func run(_ call: CommandCall, _ backend: StoreBackend) throws -> CommandOutcome {
        guard call.target.wholeNumber == 1 else {
            throw CommandFailure(5_255_100, "Have to pass 1 as 'drop' parameter")
        }
        try check(call.database)
        let (isThere, faults) = try backend.write(call) { transaction in
            let names = try transaction.collections().filter {
                $0.database.hasSameBytes(as: call.database)
            }
            let faults = try names.map { ($0, CommandFailure.dropped(try transaction.uuid($0))) }
            return (try transaction.dropDatabase(call.database), faults)
        }
        backend.cursors.end(Dictionary(uniqueKeysWithValues: faults))
        return isThere ? .reply(["dropped": .string(call.database)]) : .ok
    }

    /// Refuses to remove the server's own databases.
    ///
    /// - Throws: 20 (IllegalOperation).
    private static func check(_ database: String) throws(CommandFailure) {
        if database == "admin" {
            throw CommandFailure(.illegalOperation, "Dropping the 'admin' database is prohibited.")
        }
        if database == "local" {
            throw CommandFailure(
                .illegalOperation, "Cannot drop 'local' database while replication is active")
        }
    }
}
