internal import BSONStore

/// The server's state of one client connection.
final class ClientConnection: Sendable {
    /// The part that changes while the connection is open.
    struct State: Sendable {
        /// The client's metadata from its first `hello`.
        var client: BSONDocument?
        /// The application name in that metadata.
        var applicationName: String?
        /// The signed-in user.
        var user: SignedInUser?
        /// When the user signed in; `nil` without a user.
        var signedInAt: BSONDatetime?
        /// Whether the user ended the sign-in on another connection.
        var isSignInEnded = false
        /// The rules that apply to the user.
        var rules: ConnectionRules?
        /// The SCRAM exchange in progress.
        var conversation: ScramConversation?
        /// The result of the last command, for `getLastError`.
        var lastOutcome: LastCommandResult?
        /// Whether the client has disconnected.
        var isClosed = false
        /// When the client sent its last command.
        var lastUsed: ContinuousClock.Instant
        /// The number of commands that the client sent.
        var commands = 0
        /// The last command that the client sent, apart from those of the handshake.
        var lastCommand: String?
        /// The collections that the client's commands named last, the newest at the end.
        var namespaces: [Name] = []
        /// The change streams that the client opened last, one of a collection, the newest at the end.
        var streams: [FollowedStream] = []
        /// The times up to which the client asked for all changes of collections and got them.
        var caughtUp: [Name: BSONDatetime] = [:]
        /// What the client said to wait on its device, and when.
        var backlog: BSONDocument?
    }

    /// A change stream that a client follows.
    struct FollowedStream: Sendable {
        let namespace: Name
        let filter: BSONValue
    }

    /// The number that the server gave the connection.
    let id: Int32
    /// The client's address with its port.
    let peer: String
    /// The server's address as the client reached it, with its port.
    let local: String
    /// The key of the client's address, or of its network of IPv6.
    let addressOwner: [UInt8]
    /// Whether the connection is encrypted.
    let isSecure: Bool
    /// Whether the client is on the same machine.
    let isLoopback: Bool
    /// When the client connected.
    let openedAt = BSONDatetime.now
    let state: Locked<State>

    /// The client as the list of sessions names it.
    var sessionOwner: SessionTable.Owner {
        let share = owner
        return state.withLock { state in
            SessionTable.Owner(
                user: state.user.map { "\($0.name.text)@\($0.database.text)" },
                application: state.applicationName, share: share)
        }
    }

    /// Creates the state of a new connection.
    init(
        id: Int32, peer: String, local: String, isSecure: Bool = false, isLoopback: Bool = true
    ) {
        self.id = id
        self.peer = peer
        self.local = local
        addressOwner = Self.owner(ofPeer: peer)
        self.isSecure = isSecure
        self.isLoopback = isLoopback
        state = Locked(State(lastUsed: .now))
    }

    /// Returns the key of an address, or of its network of IPv6.
    static func owner(ofPeer peer: String) -> [UInt8] {
        Array("a\(SignInDelay.network(ofPeer: peer))".utf8)
    }

    /// Signs a user in, or the present one out.
    func become(_ user: SignedInUser?) {
        state.withLock { state in
            state.user = user
            state.signedInAt = user == nil ? nil : .now
            state.isSignInEnded = false
            // They belong to the user before, even if both names are equal as text.
            state.rules = nil
        }
    }
}
