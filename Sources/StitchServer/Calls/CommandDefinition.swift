internal import BSONStore

/// Says what a command is called, what it takes and who answers it; one for each command.
struct CommandDefinition: Sendable {
    /// Who answers a command.
    enum Answering: Sendable {
        /// The server itself, from what it knows.
        case server(@Sendable (CommandCall) throws -> CommandOutcome)
        /// The store behind it.
        case store(@Sendable (CommandCall, StoreBackend) throws -> CommandOutcome)
    }

    /// Further things that are true of a command.
    struct Traits: OptionSet, Sendable {
        let rawValue: Int

        /// Only on the database `admin`.
        static let adminOnly = Traits(rawValue: 1)
        /// Before signing in.
        static let unauthenticated = Traits(rawValue: 2)
        /// May be part of a transaction of several commands.
        static let inTransaction = Traits(rawValue: 4)
        /// Changes documents or collections.
        static let writes = Traits(rawValue: 8)
        /// May be sent again with the same number after a lost answer.
        static let retryable = Traits(rawValue: 16)
        /// Is part of the stable API, version 1.
        static let stable = Traits(rawValue: 32)
        /// Takes a write concern.
        static let takesWriteConcern = Traits(rawValue: 64)
        /// Takes any read concern.
        static let takesReadConcern = Traits(rawValue: 128)
        /// Is there only for tests.
        static let testOnly = Traits(rawValue: 256)
        /// Is answered while the server stops.
        static let whileStopping = Traits(rawValue: 512)
        /// Ends the transaction of its session.
        static let endsTransaction = Traits(rawValue: 1_024)

        /// What writes of documents have in common.
        static let write: Traits = [
            .writes, .inTransaction, .retryable, .stable, .takesWriteConcern,
        ]
        /// What reads of documents have in common.
        static let read: Traits = [.inTransaction, .stable, .takesReadConcern]
        /// What changes of the catalog have in common.
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
