internal import BSONStore

/// A backend that runs the commands on documents: a store today, perhaps a cluster later.
protocol CommandBackend: Sendable {
    /// Checks whether the user may run a command.
    ///
    /// - Returns: the call with its parsed arguments, which is the one to run.
    /// - Throws: 13 (Unauthorized), 391 when the sign-in has expired.
    func authorize(_ rule: CommandDefinition, _ call: CommandCall) throws -> CommandCall

    /// Runs a command whose arguments are checked; may block.
    ///
    /// - Throws: the error for the client; see ``CommandFailure/init(_:)``.
    func run(_ rule: CommandDefinition, _ call: CommandCall) throws -> CommandOutcome

    /// Releases what belongs to a connection.
    func connectionClosed(_ connection: ClientConnection)

    /// Performs periodic work: ends idle cursors and sessions, deletes expired documents.
    ///
    /// - Throws: the errors of the store; the next run may succeed.
    func tidy() throws

    /// Closes the backend, which must not be used afterwards.
    func close()
}
