internal import BSONStore
internal import StitchWire

/// Holds what all connections have in common.
final class ServerContext: Sendable {
    /// What changes while the server runs.
    struct State: Sendable {
        var connectionsOpen = 0
        var connectionsMade = 0
        var isStopping = false
        var lastConnectionID: Int32 = 0
        var parameters: [String: BSONValue] = [:]
        /// How much is noted of the commands on a database: 2 for all.
        var profiling: [Name: Int] = [:]
    }

    /// The settings with which the server was started.
    let settings: ServerSettings
    /// When it was started.
    let startedAt = ContinuousClock.now
    /// The number of this run of the process, which drivers compare.
    let processID = BSONObjectID()
    /// Whether the server is the primary.
    let member = MemberState()
    /// Gives the times of operations.
    let clock = ClusterClock()
    /// Faults that tests ask for.
    let failPoints = FailPoints()
    /// The commands that run.
    let operations = OperationTable()
    let state = Locked(State())
    /// How often users were changed.
    let userGeneration = Locked(1)
    /// Counts what commands did.
    let metrics = ServerMetrics()
    /// Slows down who tries passwords.
    let signIns = SignInDelay()
    /// The last writes that rules denied.
    let denials = DeniedWrites()

    /// Takes the settings.
    init(settings: ServerSettings) { self.settings = settings }

    /// How long the server has been running.
    var uptime: Duration { ContinuousClock.now - startedAt }

    /// Whether commands of a connection may take memory that outlasts it: it has signed in, or
    /// nobody has to.
    func knows(_ connection: ClientConnection) -> Bool {
        !settings.requiresSignIn || connection.state.withLock { $0.user } != nil
    }

    /// What the messages of a connection may ask for; of one that has to sign in not more than that
    /// takes.
    func limits(of connection: ClientConnection) -> WireLimits {
        knows(connection) ? WireLimits() : WireLimits(messageBytesMax: 64 * 1024)
    }

    /// The number of a new connection.
    func connectionOpened() -> Int32 {
        state.withLock { state in
            state.connectionsOpen += 1
            state.connectionsMade += 1
            state.lastConnectionID &+= 1
            return state.lastConnectionID
        }
    }

    /// Notes that a connection is gone.
    func connectionClosed() {
        state.withLock { $0.connectionsOpen -= 1 }
    }

    /// How many connections are open.
    var connectionsOpen: Int { state.withLock { $0.connectionsOpen } }
}
