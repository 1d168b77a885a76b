internal import BSONStore
internal import StitchWire

/// The state that all connections share.
final class ServerContext: Sendable {
    /// The part that changes while the server runs.
    struct State: Sendable {
        var connectionsOpen = 0
        var connectionsMade = 0
        var isStopping = false
        var lastConnectionID: Int32 = 0
        var parameters: [String: BSONValue] = [:]
        /// The profiling level of each database; 2 profiles every command.
        var profiling: [Name: Int] = [:]
    }

    /// The settings of the server.
    let settings: ServerSettings
    /// When the server started.
    let startedAt = ContinuousClock.now
    /// The id of this process run, which drivers compare.
    let processID = BSONObjectID()
    /// The server's state as the only member of its replica set.
    let member = MemberState()
    /// The clock that orders operations.
    let clock = ClusterClock()
    /// The faults that tests inject.
    let failPoints = FailPoints()
    /// The memory that running commands hold.
    let memory: MemoryBudget
    /// The running commands.
    let operations = OperationTable()
    let state = Locked(State())
    /// The open connections, by their numbers.
    let connections = Locked<[Int32: ClientConnection]>([:])
    /// The number of changes to users.
    let userGeneration = Locked(1)
    /// The command statistics.
    let metrics = ServerMetrics()
    /// The delays after wrong passwords.
    let signIns = SignInDelay()
    /// The sign-ups of the last hour.
    let signUps: SignUpRecord
    /// The accounts that were deleted.
    let deletedAccounts = DeletedAccounts()
    /// The newest lines of the log.
    let consoleLog = ConsoleLog()
    /// The slowest commands, where the server has a console.
    let slowCommands = SlowCommands()
    /// The sender of tokens for forgotten passwords; `nil` where users cannot ask for one.
    let mailer: PasswordMailer?
    /// The identity providers whose tokens are accepted, and their keys.
    let tokenKeys: [ProviderKeys]
    /// The last writes that rules denied.
    let deniedWrites = DeniedWrites()
    /// The devices that were connected last.
    let seenDevices = SeenDevices()

    /// The seconds between deletions of expired documents, unless a client sets others.
    static let usualExpirySleepSeconds: Int32 = 60

    /// The seconds between deletions of expired documents.
    var expirySleepSeconds: Int {
        state.withLock { $0.parameters["ttlMonitorSleepSecs"] }?.wholeNumber
            ?? Int(Self.usualExpirySleepSeconds)
    }

    /// Creates the state of a server that starts.
    init(settings: ServerSettings) {
        var settings = settings
        settings.log = consoleLog.recording(settings.log)
        self.settings = settings
        memory = MemoryBudget(bytesMax: settings.memoryBytesMax)
        signUps = SignUpRecord(settings.signUps ?? SignUpLimits())
        tokenKeys = settings.tokenProviders.map { [log = settings.log] in ProviderKeys($0, log) }
        mailer = settings.passwordMail.map { PasswordMailer($0, settings.log) }
    }

    /// The time since the start.
    var uptime: Duration { ContinuousClock.now - startedAt }

    /// Whether a connection may use memory that outlives it: it has signed in, or does not need to.
    func knows(_ connection: ClientConnection) -> Bool {
        !settings.requiresSignIn || connection.state.withLock { $0.user } != nil
    }

    /// Returns the size limits for a connection's messages; before sign-in they are only large
    /// enough to sign in.
    func limits(of connection: ClientConnection) -> WireLimits {
        knows(connection) ? WireLimits() : WireLimits(messageBytesMax: 64 * 1024)
    }

    /// Counts a new connection and returns its number.
    func connectionOpened() -> Int32 {
        state.withLock { state in
            state.connectionsOpen += 1
            state.connectionsMade += 1
            state.lastConnectionID &+= 1
            return state.lastConnectionID
        }
    }

    /// Counts a closed connection.
    func connectionClosed() {
        state.withLock { $0.connectionsOpen -= 1 }
    }

    /// The number of open connections.
    var connectionsOpen: Int { state.withLock { $0.connectionsOpen } }
}
