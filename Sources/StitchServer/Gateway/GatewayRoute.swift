internal import BSONStore

/// The place where a gateway runs a command.
enum GatewayRoute {
    /// In the gateway itself.
    case here
    /// On the users in the upstream.
    case users
    /// In the gateway, which also ends transactions of the sessions.
    case sessionEnds
    case commit, abort
    /// On documents of the upstream.
    case upstream

    private static let userCommands: Set<String> = [
        "createUser", "updateUser", "dropUser", "dropAllUsersFromDatabase", "grantRolesToUser",
        "revokeRolesFromUser", "usersInfo", "stitchsyncSignUp",
    ]
    private static let ownCommands: Set<String> = [
        "hello", "isMaster", "saslStart", "saslContinue", "logout", "connectionStatus", "ping",
        "buildInfo", "features", "hostInfo", "whatsmyuri", "listCommands", "getMore",
        "killCursors", "startSession", "refreshSessions", "getLastError", "getLog",
        "getParameter", "setParameter", "getCmdLineOpts", "serverStatus", "connPoolStats", "top",
        "currentOp", "killOp", "configureFailPoint", "reloadRules", "replSetGetStatus",
        "replSetGetConfig", "replSetStepDown", "replSetFreeze", "logRotate",
        "getDefaultRWConcern", "fsync", "setFeatureCompatibilityVersion", "testDeprecation",
        "testVersion2", "killAllSessions",
    ]

    init(_ command: String) {
        switch command {
        case "commitTransaction": self = .commit
        case "abortTransaction": self = .abort
        case "endSessions", "killSessions": self = .sessionEnds
        case _ where Self.userCommands.contains(command): self = .users
        case _ where Self.ownCommands.contains(command): self = .here
        default: self = .upstream
        }
    }
}
