/// Holds the settings of a server; the defaults are safe.
package struct ServerSettings: Sendable {
    /// The address to listen on.
    package var host = "127.0.0.1"
    /// The port to listen on; 0 for any that is free.
    package var port = 27017
    /// The address that clients are told to use; without one, where they reached the server.
    package var advertised: String?
    /// The name of the replica set whose only member the server is.
    package var replicaSet = "rs0"
    /// Whether clients must sign in.
    package var requiresSignIn = false
    /// The files of the certificates and of their key, in PEM; without them nothing is encrypted.
    package var certificates: (chain: String, key: String)?
    /// Which tokens of an identity provider let their bearers in; none without.
    package var tokens: TokenSettings?
    /// The rules that users are bound by; none without.
    package var rules: ReloadableRules?
    /// Whether users who are bound by rules may send scripts, which are the dearest of requests.
    package var allowsScriptsUnderRules = false
    /// Whether what is stored goes with the server.
    package var isTemporary = false
    /// How many connections may be open at once.
    package var connectionsMax = 10_000
    /// How many commands run at once.
    package var threadsMax = 32
    /// How many transactions of several commands may be open at once.
    package var transactions = TransactionBounds()
    /// Whether faults may be asked for, which drivers' tests do.
    package var allowsTestCommands = false
    /// A new connection must send its first message, and a message that has begun must grow, within
    /// this time in seconds.
    package var handshakeTimeoutSeconds = 10
    /// How long an idle cursor is kept, in seconds.
    package var cursorTimeoutSeconds = 600
    /// How long an idle session is kept, in minutes.
    package var sessionTimeoutMinutes = 30
    /// Is told what happens, without any content of documents or secrets.
    package var log = ServerLog.silent
    /// The port of this machine on which Prometheus asks for figures; none without.
    package var metricsPort: Int?
    /// What the process was started with.
    package var arguments: [String] = []

    /// Takes the defaults.
    package init() {}
}
