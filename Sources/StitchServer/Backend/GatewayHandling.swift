internal import BSONStore

/// The place where a gateway runs a command.
enum GatewayHandling: Sendable, Hashable {
    /// In the gateway, as a server over a file does.
    case here
    /// In the gateway, which then ends the transactions of the named sessions.
    ///
    /// - Parameter stopsCommands: whether their running commands are interrupted first.
    case endsSessions(stopsCommands: Bool)
    /// At the upstream's end of the session's transaction.
    case commit, abort
    /// On an excerpt with the upstream's users that it concerns.
    case users(ConcernedUsers)
    /// Upstream, where the account and its documents are deleted.
    case deletesAccount
    /// In the gateway, from its record of deletions.
    case deletions
    /// In the gateway, which adds the conflicts of a device to those upstream.
    case conflicts
    /// Upstream, by commands on the document and on the bucket of files.
    case attachments
    /// Upstream as it is; for a user under access rules as ``UpstreamRoute`` decides.
    case upstream
    /// The same, but a change stream is read from the gateway's feed.
    case upstreamOrStream
}

/// The users that a command concerns.
enum ConcernedUsers: Sendable, Hashable {
    /// The user whom the command names.
    case named
    /// The user who sent the command.
    case caller
    /// The user who sent the command, and the one whom it names.
    case callerAndNamed
    /// All users of the command's database.
    case ofDatabase
    /// The user whom the command names, or all for another selection.
    case selected
}
