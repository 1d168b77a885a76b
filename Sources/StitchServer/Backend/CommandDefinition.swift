internal import BSONStore

/// A row of the command table: all that the server knows of a command.
///
/// The parts of the server that decide about a command read its row and do not ask for its name, but
/// for a few that a protocol defines by name: the Stable API's list, `hello` over the old form of
/// messages, exhaust cursors, the profile, and what `getLastError` does not tell of.
/// Nothing in it has a default: each command states what a user under access rules may do with it,
/// and where a gateway runs it.
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

    /// The part of the row that the checks of a command's arguments read.
    let signature: CommandSignature
    /// The rights that a user's roles must grant.
    let privileges: CommandPrivileges
    /// The use of the command by a user under access rules.
    let underRules: UseUnderRules
    /// The place where a gateway runs the command.
    let gateway: GatewayHandling
    let answering: Answering

    init(
        _ name: String, aliases: [String], _ traits: CommandSignature.Traits,
        fields: [String: FieldKind]?, required: [String],
        privileges: CommandPrivileges, underRules: UseUnderRules, gateway: GatewayHandling,
        statements: StatementList?, cursor: CursorUse, _ answering: Answering
    ) {
        signature = CommandSignature(
            name: name, aliases: aliases, traits: traits,
            schema: CommandSchema(fields: fields, required: required),
            statements: statements, cursor: cursor)
        self.privileges = privileges
        self.underRules = underRules
        self.gateway = gateway
        self.answering = answering
    }

    var name: String { signature.name }

    var traits: CommandSignature.Traits { signature.traits }

    var statements: StatementList? { signature.statements }

    var cursor: CursorUse { signature.cursor }

    /// The text that `{find: 1, help: true}` returns: the command with its arguments.
    var help: String {
        let schema = signature.schema
        let arguments = (schema.fields ?? [:]).keys.sorted().map { field in
            schema.required.contains { $0.hasSameBytes(as: field) } ? field + " (required)" : field
        }
        let names = ([name] + signature.aliases).joined(separator: ", ")
        let place = traits.contains(.adminOnly) ? ", on the database admin" : ""
        return "help for: \(names)\(place)"
            + (arguments.isEmpty ? "" : "; arguments: " + arguments.joined(separator: ", "))
    }

    /// Parses the arguments of a call.
    ///
    /// - Parameter backend: runs the command; `nil` when it is explained.
    func parse(_ call: CommandCall, _ backend: StoreBackend?) -> ParsedCommand {
        switch answering {
        case .server(let answer): ParsedCommand(needs: nil) { _ in try answer(call) }
        case .store(let answer): ParsedCommand(needs: nil) { backend in try answer(call, backend) }
        case .parsed(let parse): parse(call, backend)
        }
    }
}
