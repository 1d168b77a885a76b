#if Remote
    /// How a device signs in to a server.
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
    }
#endif
