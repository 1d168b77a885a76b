internal import BSONStore

/// Removes all collections of a database.
enum DropDatabaseCommand {
    static let rule = CommandRule("dropDatabase", .catalog, fields: [:], .store(run))

    private static func run(_ call: CommandCall, _ store: StoreBackend) throws -> CommandOutcome {
        guard call.target.wholeNumber == 1 else {
            throw CommandFault(5_255_100, "Have to pass 1 as 'drop' parameter")
        }
        let isThere = try store.write(call) { try $0.dropDatabase(call.database) }
        store.cursors.kill(database: call.database)
        return isThere ? .reply(["dropped": .string(call.database)]) : .ok
    }
}
