internal import BSONStore

/// A command's name, properties and arguments.
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
}
