internal import BSONStore

/// A command's name, arguments, properties and implementation.
struct CommandDefinition: Sendable {
    /// The part of the server that runs a command.
    enum Answering: Sendable {
        /// The server, from its own state.
        case server(@Sendable (CommandCall) throws -> CommandOutcome)
        /// The store backend.
        case store(@Sendable (CommandCall, StoreBackend) throws -> CommandOutcome)
    }

    /// Properties of a command.
    struct Traits: OptionSet, Sendable {
        let rawValue: Int

        /// Must be sent to the database `admin`.
        static let adminOnly = Traits(rawValue: 1)
        /// Is allowed before sign-in.
        static let unauthenticated = Traits(rawValue: 2)
        /// Is allowed in a multi-document transaction.
        static let inTransaction = Traits(rawValue: 4)
        /// Changes documents or collections.
        static let writes = Traits(rawValue: 8)
        /// Is retryable: a driver may send it again, with the same number, after a lost reply.
        static let retryable = Traits(rawValue: 16)
        /// Is part of the Stable API, version 1.
        static let stable = Traits(rawValue: 32)
        /// Accepts a write concern.
        static let takesWriteConcern = Traits(rawValue: 64)
        /// Accepts any read concern.
        static let takesReadConcern = Traits(rawValue: 128)
        /// Exists for tests only.
        static let testOnly = Traits(rawValue: 256)
        /// Is answered while the server shuts down.
        static let whileStopping = Traits(rawValue: 512)
        /// Ends the transaction of its session.
        static let endsTransaction = Traits(rawValue: 1_024)

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
    let answering: Answering

    init(
        _ name: String, aliases: [String] = [], _ traits: Traits = [],
        fields: [String: FieldKind]? = nil, required: [String] = [], _ answering: Answering
    ) {
        self.name = name
        self.aliases = aliases
        self.traits = traits
        schema = CommandSchema(fields: fields, required: required)
        self.answering = answering
    }
}
