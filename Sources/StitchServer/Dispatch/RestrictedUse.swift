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
        guard !holdsScript(call, in: definition.statements) else {
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

    /// Whether a command has a script outside of the documents that it stores as they are.
    private static func holdsScript(_ call: CommandCall, in list: StatementList?) -> Bool {
        call.body.contains { name, value in
            guard let list, name == list.field, let statements = value.arrayValue else {
                return scripts.contains(name) || holdsScript(value, 1)
            }
            return statements.contains { holdsScript(statement: $0, in: list) }
        }
            || call.sequences.contains { name, documents in
                documents.contains { document in
                    guard let list, name == list.field else {
                        return holdsScript(.document(document), 2)
                    }
                    return holdsScript(statement: .document(document), in: list)
                }
            }
    }

    private static func holdsScript(
        statement: BSONValue, in list: StatementList
    ) -> Bool {
        switch list {
        case .inserts: return false
        case .updates, .deletes: return holdsScript(statement, 2)
        case .mixed:
            guard let document = statement.documentValue, document.keys.first == "insert" else {
                return holdsScript(statement, 2)
            }
            return document.contains { name, value in
                name != "document" && (scripts.contains(name) || holdsScript(value, 3))
            }
        }
    }

    private static func holdsScript(_ value: BSONValue, _ depth: Int) -> Bool {
        guard depth < 250 else { return true }
        switch value {
        case .array(let array): return array.contains { holdsScript($0, depth + 1) }
        case .document(let document):
            return document.contains { name, value in
                scripts.contains(name) || holdsScript(value, depth + 1)
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
