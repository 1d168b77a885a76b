internal import BSONStore

/// A command's signature and implementation.
struct CommandDefinition: Sendable {
    /// The part of the server that runs a command.
    enum Answering: Sendable {
        /// The server, from its own state.
        case server(@Sendable (CommandCall) throws -> CommandOutcome)
        /// The store backend.
        case store(@Sendable (CommandCall, StoreBackend) throws -> CommandOutcome)
        /// The store backend, with arguments that authorization reads, too.
        ///
        /// The backend is `nil` for a command that is explained and not run.
        case parsed(@Sendable (CommandCall, StoreBackend?) -> ParsedCommand)
    }

    let signature: CommandSignature
    let answering: Answering

    init(
        _ name: String, aliases: [String] = [], _ traits: CommandSignature.Traits = [],
        fields: [String: FieldKind]? = nil, required: [String] = [], _ answering: Answering
    ) {
        signature = CommandSignature(
            name: name, aliases: aliases, traits: traits,
            schema: CommandSchema(fields: fields, required: required))
        self.answering = answering
    }

    var name: String { signature.name }

    var traits: CommandSignature.Traits { signature.traits }

    /// Parses the arguments of a call.
    ///
    /// - Parameter store: the backend that runs the command; `nil` when it is explained.
    func parse(_ call: CommandCall, _ store: StoreBackend?) -> ParsedCommand {
        switch answering {
        case .server(let answer): ParsedCommand { _ in try answer(call) }
        case .store(let answer): ParsedCommand { store in try answer(call, store) }
        case .parsed(let parse): parse(call, store)
        }
    }
}
