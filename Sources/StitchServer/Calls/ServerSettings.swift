internal import BSONStore

/// The settings of a server; the defaults are safe.
package struct ServerSettings: Sendable {
    /// The address to listen on.
    package var host = "127.0.0.1"
    /// The port to listen on; 0 for any that is free.
    package var port = 27017
    /// The address that `hello` reports to clients; `nil` reports the address that the client
    /// reached.
    package var advertised: String?
    /// The name of the replica set, whose only member is the server.
    package var replicaSet = "rs0"
    /// The MongoDB version that clients see.
    package var version = EmulatedVersion.eight
    /// Whether clients must sign in.
    package var requiresSignIn = false
    /// The PEM files of the certificate chain and the private key; `nil` disables encryption.
    package var certificates: (chain: String, key: String)?
    /// The identity providers whose tokens are accepted.
    package var tokenProviders: [TokenProvider] = []
    /// Whether people may use the server without an account (``AnonymousSignIn``); needs rules.
    package var allowsAnonymous = false
    /// The limits on how many people may sign up; `nil` allows no sign-up.
    ///
    /// Sign-ups need rules.
    package var signUps: SignUpLimits?
    /// The way in which users receive tokens for a forgotten password; `nil` allows no requests.
    package var passwordMail: PasswordMail?
    /// The access rules for users; `nil` for none.
    package var rules: ReloadableRules?
    /// Whether users under rules may send scripts, the most expensive kind of request.
    package var allowsScriptsUnderRules = false
    /// Whether the data is discarded when the server stops.
    package var isTemporary = false
    /// The maximum number of open connections.
    package var connectionsMax = 10_000
    /// The maximum number of commands that run at once.
    package var threadsMax = 32
    /// The limits on open multi-document transactions.
    package var transactions = TransactionBounds()
    /// Whether tests may inject faults (`configureFailPoint`), as drivers' tests do.
    package var allowsTestCommands = false
    /// The seconds within which a new connection must send its first message, and an incomplete
    /// message must grow.
    package var handshakeTimeoutSeconds = 10
    /// The lifetime of an idle cursor, in seconds.
    package var cursorTimeoutSeconds = 600
    /// The maximum size of the documents that open cursors keep in memory, in bytes.
    package var cursorBytesMax = 128 * 1024 * 1024
    /// The maximum size of the temporary files with large results that clients have not read, in
    /// bytes; one user may have half.
    package var spoolBytesMax = 4 * 1024 * 1024 * 1024
    /// The maximum memory that running commands hold together, in bytes; one may hold half.
    package var memoryBytesMax = 1024 * 1024 * 1024
    /// The lifetime of an idle session, in minutes.
    package var sessionTimeoutMinutes = 30
    /// The log, which receives neither document contents nor secrets.
    package var log = ServerLog.silent
    /// The port for Prometheus and load balancers; `nil` for none.
    package var metricsPort: Int?
    /// The address of that port.
    package var metricsHost = "127.0.0.1"
    /// The port of the console for administrators; `nil` for none.
    package var consolePort: Int?
    /// The address of that port.
    package var consoleHost = "127.0.0.1"
    /// The command line of the process.
    package var arguments: [String] = []

    /// Creates the default settings.
    package init() {}
}
