package import BSONStore

extension ServerUsers {
    /// Runs a command on the users of a store, such as `updateUser`, as an administrator on the
    /// server's machine sends it, and closes the store.
    ///
    /// - Throws: the `CommandFailure` in the reply; `StoreError`.
    package static func run(
        _ command: BSONDocument, on database: String, closing store: DocumentStore
    ) throws -> BSONDocument {
        let server = try OfflineServer(ServerSettings(), over: store, isLoopback: true)
        var command = command
        command.append("$db", .string(database))
        guard let reply = server.answer(command: command) else {
            throw CommandFailure(.badValue, "the command has no reply")
        }
        guard reply["ok"] == 1.0 else {
            throw CommandFailure(
                Int32(clamping: reply["code"]?.int64Value ?? 8),
                reply["errmsg"]?.stringValue ?? "the command was refused")
        }
        return reply
    }
}
