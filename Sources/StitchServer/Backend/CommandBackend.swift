/// Carries out commands that concern documents: today a store, later perhaps a cluster that the
/// server stands in front of.
protocol CommandBackend: Sendable {
    /// Checks whether a command may be carried out for whom it comes from.
    ///
    /// - Returns: the command with what was read of it, which is what is to be carried out.
    /// - Throws: 13 (Unauthorized), 391 when the sign-in is over.
    func authorize(_ rule: CommandDefinition, _ call: CommandCall) throws -> CommandCall

    /// Carries out a command whose arguments are checked; may block.
    ///
    /// - Throws: what the client is told; see ``CommandFailure/init(_:)``.
    func run(_ rule: CommandDefinition, _ call: CommandCall) throws -> CommandOutcome

    /// Lets go of what belongs to a connection.
    func connectionClosed(_ connection: ClientConnection)

    /// Does what is due from time to time: idle cursors and sessions end, expired documents go.
    ///
    /// - Throws: what the store says; the next time may go better.
    func tidy() throws

    /// Ends; nothing is asked of it afterwards.
    func close()
}
