internal import BSONStore

/// Explains how the server would run another command.
///
/// Source: MongoDB manual, "explain".
enum ExplainCommand {
    static let rule = CommandDefinition(
        "explain", [.stable, .takesReadConcern], fields: ["verbosity": .string],
        .store(run))

    private static func run(_ call: CommandCall, _ store: StoreBackend) throws -> CommandOutcome {
        let request = try call.parsed.explain
        return .reply(try ExplainReply(request.call, request.verbosity).reply(store))
    }
}

/// The command to explain, and the verbosity.
struct ExplainRequest: Sendable {
    /// The parsed command.
    let call: CommandCall
    let rule: CommandDefinition
    let verbosity: ExplainVerbosity

    /// - Throws: 14, 2 (BadValue) and 59 for an invalid command, 20 for `explain` itself, and the
    ///   errors of checking the command's fields.
    init(_ call: CommandCall, _ store: StoreBackend) throws {
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
        guard let rule = CommandTable.find(name) else {
            throw CommandFailure(
                59, "Explain failed due to unknown command: \(name)")
        }
        guard rule.name != ExplainCommand.rule.name else {
            throw CommandFailure(.illegalOperation, "Explain cannot explain itself.")
        }
        if inner["$db"] == nil { inner.append("$db", .string(call.database)) }
        try rule.schema.check(inner, named: rule.name, isCommand: true)
        var explained = call.standing(for: inner, as: rule.name, givenName: name)
        explained.parsed = ParsedCommand(rule, explained, store, isExplained: true)
        (self.call, self.rule, self.verbosity) = (explained, rule, verbosity)
    }
}
