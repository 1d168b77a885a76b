#if Remote
    internal import BSONStore

    /// The way in which a device signs in to a server.
    ///
    /// ```swift
    /// let signIn = SignIn.user("ann", password: password)
    /// ```
    public enum SignIn: Sendable {
        /// Not at all: the server must run without `--auth`.
        case none
        /// With a name and a password, by SCRAM-SHA-256 (RFC 7677); the password is not sent.
        ///
        /// `database` is the one that holds the user, `admin` unless the operator chose another.
        case user(_ name: String, password: String, database: String = "admin")
        /// With a token of an identity provider (JSON Web Token); needs TLS.
        ///
        /// The closure is called for each connection, and again when a token has ended.
        case token(_ token: @Sendable () async throws -> String)
        /// Without an account, with a secret of 16 to 256 random bytes that the device has made
        /// and keeps; needs TLS, or a server on the same machine.
        ///
        /// The same secret is the same user. The server must run with `--anonymous`.
        case anonymous(secret: [UInt8])

        /// Makes a secret of 32 random bytes for ``anonymous(secret:)``.
        ///
        /// The app keeps it as safe as a password, and uses it again.
        public static func newAnonymousSecret() -> [UInt8] {
            var generator = SystemRandomNumberGenerator()
            return (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        }
    }
#endif
