internal import BSONStore

/// Tells how another command would be carried out.
///
/// Source: MongoDB manual, "explain".
enum ExplainCommand {
    static let rule = CommandRule(
        "explain", [.stable, .takesReadConcern], fields: ["verbosity": .string],
        .store(run))

    private static func run(_ call: CommandCall, _ store: StoreBackend) throws -> CommandOutcome {
        guard var inner = call.target.documentValue else {
            throw CommandFault(
                .typeMismatch,
                "BSON field 'explain.explain' is the wrong type "
                    + "'\(call.target.type.serverName)', expected type 'object'")
        }
        let name = inner.keys.first ?? ""
        let text = call.string("verbosity") ?? "allPlansExecution"
        guard let verbosity = ExplainVerbosity(rawValue: text) else {
            throw CommandFault(
                .badValue,
                "Enumeration value '\(text)' for field 'explain.verbosity' is not a valid value.")
        }
        guard let rule = CommandTable.find(name) else {
            throw CommandFault(
                59, "Explain failed due to unknown command: \(name)")
        }
        guard rule.name != Self.rule.name else {
            throw CommandFault(.illegalOperation, "Explain cannot explain itself.")
        }
        if inner["$db"] == nil { inner.append("$db", .string(call.database)) }
        try rule.schema.check(inner, named: rule.name, isCommand: true)
        let explained = Explanation(
            call.standing(for: inner, as: rule.name, givenName: name), verbosity)
        return .reply(try explained.reply(store))
    }
}
