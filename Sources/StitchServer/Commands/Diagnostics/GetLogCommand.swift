internal import BSONStore

/// Returns the newest log lines; the server keeps none.
enum GetLogCommand {
    static let definition = CommandDefinition(
        "getLog", aliases: [], [.adminOnly],
        fields: [:], required: [],
        privileges: .access(.monitoring), underRules: .refused, gateway: .here,
        statements: nil, cursor: .none,
        .server { call in
            let names = ["global", "startupWarnings"]
            if call.target.stringValue == "*" {
                return .reply(["names": .array(BSONArray(names.map { .string($0) }))])
            }
            guard let name = call.target.stringValue else {
                throw CommandFailure(
                    .typeMismatch,
                    "Argument to getLog must be of type String; found "
                        + "\(call.target.type.alias)")
            }
            guard names.contains(name) else {
                throw CommandFailure(96, "No log named '\(name)'")
            }
            return .reply(["totalLinesWritten": 0, "log": []])
        })
}
