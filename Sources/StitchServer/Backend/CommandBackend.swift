internal import BSONStore

/// The counts of a backend, for metrics.
struct BackendCounts: Sendable {
    /// The counts of cursors.
    let cursors: (total: Int64, noTimeout: Int64, pinned: Int64, timedOut: Int64)
    /// The number of logical sessions.
    let sessions: Int
    /// Further families of metrics in Prometheus's format.
    var text = ""
}

/// The figures of a backend that the console's overview shows, besides its counts.
struct BackendFigures: Sendable {
    /// The upstream of a gateway.
    struct Upstream: Sendable {
        /// Whether the last check reached it.
        var isReachable: Bool
        /// The time of the last check's answer.
        var latency: Duration
        /// The number of change streams that are followed.
        var feeds: Int
    }

    /// The number of kept conflicts that devices shared; `nil` where it cannot be read.
    var conflicts: Int64?
    /// The size of the documents and indexes on disk; `nil` where it cannot be read.
    var storageBytes: Int64?
    /// The upstream; `nil` where the server keeps the documents itself.
    var upstream: Upstream?
}

/// A backend that runs the commands on documents: a store, or a gateway to MongoDB.
protocol CommandBackend: Sendable {
    /// Returns the user signed in on a connection, with the current roles.
    ///
    /// - Throws: 391 when the sign-in has expired.
    func signedIn(_ connection: ClientConnection) throws -> SignedInUser?

    /// The sign-in of clients, and the users.
    var signIn: SignIn { get }

    /// Whether the documents are upstream.
    var isGateway: Bool { get }

    /// Whether the server has no users yet.
    func hasNoUsers() throws -> Bool

    /// Whether rules apply to the user who sent a command.
    func isUnderRules(_ call: CommandCall) throws -> Bool

    /// Parses the arguments that authorization needs; an error is thrown when the command runs.
    ///
    /// Most commands, such as `find`, need none for that, and read their arguments when they run.
    func parse(_ definition: CommandDefinition, _ call: CommandCall) -> ParsedCommand

    /// Runs an authorized command; may block.
    ///
    /// - Throws: the error for the client; see ``CommandFailure/init(_:)``.
    func run(
        _ command: ParsedCommand, _ definition: CommandDefinition, _ call: CommandCall
    ) throws -> CommandOutcome

    /// Releases what belongs to a connection.
    func connectionClosed(_ connection: ClientConnection)

    /// Performs periodic work: ends idle cursors and sessions, deletes expired documents.
    ///
    /// - Throws: the errors of the store; the next run may succeed.
    func tidy() throws

    /// The counts for metrics.
    var counts: BackendCounts { get }

    /// The figures for the console.
    ///
    /// - Throws: the errors of the store.
    func figures() throws -> BackendFigures

    /// Whether clients can be served now.
    var isReady: Bool { get }

    /// Ends the transactions that would make other commands wait.
    func endTransactions()

    /// Closes the backend, which must not be used afterwards.
    func close()
}
