internal import BSONStore

/// The check of what users under access rules ask for: only commands that reach documents through the
/// rules, or none, and only with arguments that reveal no more than documents.
enum RestrictedUse {
    /// Stages that reveal more than the documents visible to a user.
    private static let forbiddenStages: Set<String> = [
        "$collStats", "$indexStats", "$currentOp", "$listSessions", "$listLocalSessions",
        "$planCacheStats", "$out",
    ]

    /// Checks that a user under rules may send a command.
    ///
    /// - Throws: 13 (Unauthorized).
    static func check(
        _ definition: CommandDefinition, _ call: CommandCall
    ) throws(CommandFailure) {
        switch definition.underRules {
        case .refused: throw refusal(call)
        case .harmless, .reads, .writes, .attachments: break
        }
        guard !asksForMore(call.body, 0) else { throw refusal(call) }
        guard !call.server.settings.allowsScriptsUnderRules else { return }
        let statements = definition.statements
        let parts = call.sequences.filter {
            statements != .inserts || $0.key != StatementList.inserts.field
        }
        guard !holdsScript(.document(call.body), 0, in: statements),
            !parts.values.joined().contains(where: {
                holdsScript(.document($0), 2, in: statements)
            })
        else {
            throw CommandFailure(
                13,
                "scripts ($where, $function, $accumulator) are not allowed for users under rules; "
                    + "the operator allows them with --scripts-under-rules")
        }
    }

    /// Returns the error for a command that a user under rules may not send.
    static func refusal(_ call: CommandCall) -> CommandFailure {
        CommandFailure(
            13,
            "not authorized on \(call.database) to execute command "
                + call.bodyWithoutSecrets.extendedJSON(.relaxed))
    }

    private static let scripts: Set<String> = [
        "$where", "$function", "$accumulator", "$_internalJsEmit", "$_internalJsReduce",
    ]
    /// Whether a field is stored as it is, and never evaluated as a filter or expression.
    private static func isStored(
        _ name: String, _ depth: Int, in statements: StatementList?
    ) -> Bool {
        switch statements {
        case .inserts: depth == 0 && name == StatementList.inserts.field
        case .mixed: depth == 2 && name == "document"
        case .updates, .deletes, nil: false
        }
    }

    private static func holdsScript(
        _ value: BSONValue, _ depth: Int, in statements: StatementList?
    ) -> Bool {
        guard depth < 250 else { return true }
        switch value {
        case .array(let array):
            return array.contains { holdsScript($0, depth + 1, in: statements) }
        case .document(let document):
            return document.contains { name, value in
                scripts.contains(name)
                    || !isStored(name, depth, in: statements)
                        && holdsScript(value, depth + 1, in: statements)
            }
        default: return false
        }
    }

    /// Whether a command asks for more than documents: index keys, positions, record ids.
    private static func asksForMore(_ body: BSONDocument, _ depth: Int) -> Bool {
        let inner = body["explain"]?.documentValue
        if let inner, depth == 0 { return asksForMore(inner, 1) }
        let flags = ["returnKey", "showRecordId", "tailable"]
        return flags.contains { body[$0]?.isTrue == true }
            || ["min", "max"].contains { body[$0]?.documentValue.map { !$0.isEmpty } ?? false }
            || NestedStages.list(body["pipeline"]?.arrayValue ?? []).contains {
                forbiddenStages.contains($0.name)
            }
    }
}
