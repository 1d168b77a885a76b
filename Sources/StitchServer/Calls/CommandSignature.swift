internal import BSONStore

/// The part of a command's row that the checks of its arguments read.
struct CommandSignature: Sendable {
    /// Properties of a command.
    struct Traits: OptionSet, Sendable {
        let rawValue: Int

        /// Allowed only on the database `admin`.
        static let adminOnly = Traits(rawValue: 1)
        /// Allowed before sign-in.
        static let unauthenticated = Traits(rawValue: 2)
        /// Allowed in a multi-document transaction.
        static let inTransaction = Traits(rawValue: 4)
        /// A change of documents or collections.
        static let writes = Traits(rawValue: 8)
        /// Retryable: a driver may send the command again, with the same number, after a lost
        /// reply.
        static let retryable = Traits(rawValue: 16)
        /// Part of the Stable API, version 1.
        static let stable = Traits(rawValue: 32)
        /// With a write concern.
        static let takesWriteConcern = Traits(rawValue: 64)
        /// With any read concern.
        static let takesReadConcern = Traits(rawValue: 128)
        /// Only for tests.
        static let testOnly = Traits(rawValue: 256)
        /// Answered while the server shuts down.
        static let whileStopping = Traits(rawValue: 512)
        /// The end of the session's transaction.
        static let endsTransaction = Traits(rawValue: 1_024)
        /// A change of the connection's user.
        static let signsIn = Traits(rawValue: 2_048)
        /// A read that may write its results into a collection.
        static let writesResults = Traits(rawValue: 4_096)
        /// A read that a read concern `snapshot` may ask for outside of transactions.
        static let takesSnapshot = Traits(rawValue: 8_192)
        /// A read that a secondary refuses unless the read preference allows it.
        ///
        /// The commands that take a read concern are such reads, too.
        static let checksReadPreference = Traits(rawValue: 16_384)
        /// Allowed to a local client that has not signed in while the server has no users.
        static let createsFirstUser = Traits(rawValue: 32_768)
        /// Run without the sender's access rules: it writes only the new user.
        static let outsideRules = Traits(rawValue: 131_072)
        /// A read that works on the virtual collections of ``ServerCollection``, too.
        static let readsServerCollection = Traits(rawValue: 262_144)
        /// Answered even when users' work takes all other threads.
        ///
        /// No such command takes long, whatever its arguments are.
        static let vital = Traits(rawValue: 65_536)

        /// The properties of commands that write documents.
        static let write: Traits = [
            .writes, .inTransaction, .retryable, .stable, .takesWriteConcern,
        ]
        /// The properties of commands that read documents.
        static let read: Traits = [.inTransaction, .stable, .takesReadConcern]
        /// The properties of commands that change the catalog.
        static let catalog: Traits = [.writes, .stable, .takesWriteConcern]
    }

    let name: String
    let aliases: [String]
    let traits: Traits
    let schema: CommandSchema
    /// The statements that the command carries; `nil` for none.
    let statements: StatementList?
    let cursor: CursorUse
}
