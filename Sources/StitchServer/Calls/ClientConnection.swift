internal import BSONStore

/// Holds what the server knows about one connection of a client.
final class ClientConnection: Sendable {
    /// What changes while the connection is open.
    struct State: Sendable {
        /// What the client said about itself.
        var client: BSONDocument?
        /// The name of the program that it is for.
        var applicationName: String?
        /// Who has signed in.
        var user: SignedInUser?
        /// The rules through which the user goes.
        var rules: ConnectionRules?
        /// The sign-in that is under way.
        var conversation: ScramConversation?
        /// What the last command did, for `getLastError`.
        var lastOutcome: LastCommandResult?
        /// When the last command came.
        var lastUsed: ContinuousClock.Instant
    }

    /// The server's number of the connection.
    let id: Int32
    /// The client's address with its port.
    let peer: String
    /// The server's address as the client reached it, with its port.
    let local: String
    /// Whether the connection is encrypted.
    let isSecure: Bool
    /// Whether the client is on the same machine.
    let isLoopback: Bool
    let state: Locked<State>

    /// Takes what is known when a client has connected.
    init(
        id: Int32, peer: String, local: String, isSecure: Bool = false, isLoopback: Bool = true
    ) {
        self.id = id
        self.peer = peer
        self.local = local
        self.isSecure = isSecure
        self.isLoopback = isLoopback
        state = Locked(State(lastUsed: .now))
    }
}
