internal import BSONStore

/// The commands that users under rules may send: those that reach documents only through the rules,
/// and those that reach none.
enum RestrictedCommands {
    private static let allowed: Set<String> = [
        "find", "count", "distinct", "aggregate", "getMore", "killCursors", "insert", "update",
        "delete", "findAndModify", "bulkWrite", "explain", "listCollections", "listDatabases",
        "commitTransaction", "abortTransaction", "startSession", "endSessions",
        "refreshSessions", "getLastError", "logout", "features", "stitchsyncTombstones",
    ]
    /// Stages that reveal more than the documents visible to a user.
    private static let forbiddenStages: Set<String> = [
        "$collStats", "$indexStats", "$currentOp", "$listSessions", "$listLocalSessions",
        "$planCacheStats", "$out",
    ]

    /// Checks that a user under rules may send a command.
    ///
    /// - Throws: 13 (Unauthorized).
    static func check(_ rule: CommandDefinition, _ call: CommandCall) throws(CommandFailure) {
        guard !rule.traits.contains(.unauthenticated) else { return }
        guard allowed.contains(rule.name), !asksForMore(call.body, 0) else {
            throw CommandFailure(
                13,
                "not authorized on \(call.database) to execute command "
                    + call.body.extendedJSON(.relaxed))
        }
        guard !call.server.settings.allowsScriptsUnderRules else { return }
        let parts = call.sequences.filter { rule.name != "insert" || $0.key != "documents" }
        guard !holdsScript(.document(call.body), 0, in: rule.name),
            !parts.values.joined().contains(where: {
                holdsScript(.document($0), 2, in: rule.name)
            })
        else {
            throw CommandFailure(
                13,
                "scripts ($where, $function, $accumulator) are not allowed for users under rules; "
                    + "the operator allows them with --scripts-under-rules")
        }
    }

    private static let scripts: Set<String> = [
        "$where", "$function", "$accumulator", "$_internalJsEmit", "$_internalJsReduce",
    ]
    /// Whether a field is stored as it is, and never evaluated as a filter or expression.
    private static func isCarried(_ name: String, _ depth: Int, in command: String) -> Bool {
        switch (command, depth) {
        case ("insert", 0): name == "documents"
        case ("bulkWrite", 2): name == "document"
        default: false
        }
    }

    private static func holdsScript(
        _ value: BSONValue, _ depth: Int, in command: String
    ) -> Bool {
        guard depth < 250 else { return true }
        switch value {
        case .array(let array): return array.contains { holdsScript($0, depth + 1, in: command) }
        case .document(let document):
            return document.contains { name, value in
                scripts.contains(name)
                    || !isCarried(name, depth, in: command)
                        && holdsScript(value, depth + 1, in: command)
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
            || hasForbiddenStage(body["pipeline"], 0)
    }

    private static func hasForbiddenStage(_ value: BSONValue?, _ depth: Int) -> Bool {
        guard depth < 120 else { return true }
        switch value {
        case .array(let array):
            return array.contains { element in
                let name = element.documentValue?.keys.first
                return name.map { forbiddenStages.contains($0) } ?? false
                    || hasForbiddenStage(element, depth + 1)
            }
        case .document(let document):
            return document.contains { hasForbiddenStage($0.value, depth + 1) }
        default: return false
        }
    }
}
