internal import BSONStore

/// Explains how the server would run another command.
///
/// Source: MongoDB manual, "explain".
enum ExplainCommand {
    fileprivate static let name = "explain"

    /// Creates the command.
    ///
    /// - Parameter find: returns the command with a name.
    static func definition(
        finding find: @escaping @Sendable (String) -> CommandDefinition?
    ) -> CommandDefinition {
        CommandDefinition(
            name, aliases: [], [.stable, .takesReadConcern],
            fields: ["verbosity": .string], required: [],
            privileges: .arguments(orElse: .read), underRules: .reads(.documents),
            gateway: .upstream,
            statements: nil, cursor: .none,
            .parsed { call, _ in
                let request = Result<ExplainRequest, any Error> { try ExplainRequest(call, find) }
                // An explanation reveals as much as the command itself.
                let needs = request.map(\.needs)
                return ParsedCommand(
                    needs: needs.value ?? [AccessNeed(.read, on: call.database)],
                    fault: request.fault
                ) { .reply(try request.get().reply($0)) }
            })
    }
}

/// The command to explain, and the verbosity.
struct ExplainRequest: Sendable {
    /// The access that the command needs.
    let needs: [AccessNeed]
    private let call: CommandCall
    /// The arguments of an `aggregate`.
    private let aggregate: ParsedAggregate?
    private let verbosity: ExplainVerbosity

    /// - Throws: 14, 2 (BadValue) and 59 for an invalid command, 20 for `explain` itself, and the
    ///   errors of checking the command's fields.
    init(_ call: CommandCall, _ find: (String) -> CommandDefinition?) throws {
        guard var inner = call.target.documentValue else {
            throw CommandFailure(
                .typeMismatch,
                "BSON field 'explain.explain' is the wrong type "
                    + "'\(call.target.type.alias)', expected type 'object'")
        }
        let name = inner.keys.first ?? ""
        let text = call.string("verbosity") ?? "allPlansExecution"
        guard let verbosity = ExplainVerbosity(rawValue: text) else {
            throw CommandFailure(
                .badValue,
                "Enumeration value '\(text)' for field 'explain.verbosity' is not a valid value.")
        }
        guard let definition = find(name) else {
            throw CommandFailure(
                59, "Explain failed due to unknown command: \(name)")
        }
        guard definition.name != ExplainCommand.name else {
            throw CommandFailure(.illegalOperation, "Explain cannot explain itself.")
        }
        if inner["$db"] == nil { inner.append("$db", .string(call.database)) }
        try definition.signature.schema.check(inner, named: definition.name, isCommand: true)
        let explained = call.standing(for: inner, as: definition.signature, givenName: name)
        self.call = explained
        self.verbosity = verbosity
        if definition.name == AggregateCommand.definition.name {
            let parsed = ParsedAggregate(explained, nil)
            aggregate = parsed
            needs = AggregateCommand.needs(parsed, explained)
        } else {
            aggregate = nil
            needs = Authorization.needs(definition, explained, definition.parse(explained, nil))
        }
    }

    /// Returns the explanation.
    func reply(_ backend: StoreBackend) throws -> BSONDocument {
        let reply = ExplainReply(call, verbosity)
        guard let aggregate else { return try reply.reply(backend) }
        return try reply.aggregation(aggregate, backend)
    }
}
