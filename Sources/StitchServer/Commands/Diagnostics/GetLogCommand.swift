internal import BSONStore

/// Returns the newest log lines, or the warnings of the start.
///
/// Source: MongoDB manual, "getLog" and "Log Messages".
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
            let (lines, count) =
                name == "global"
                ? (newest(call.server.consoleLog), call.server.consoleLog.count)
                : startupWarnings(call.server)
            return .reply([
                "totalLinesWritten": .int64(count),
                "log": .array(BSONArray(lines.map { .string($0.extendedJSON(.relaxed)) })),
            ])
        })

    private static func newest(_ log: ConsoleLog) -> [BSONDocument] {
        log.lines(after: 0).map { line in
            Self.line(
                BSONDatetime(milliseconds: line["time"]?.int64Value ?? 0),
                line["level"]?.stringValue == "warning" ? "W" : "I",
                line["text"]?.stringValue ?? "")
        }
    }

    private static func startupWarnings(_ server: ServerContext) -> ([BSONDocument], Int64) {
        guard !server.settings.requiresSignIn else { return ([], 0) }
        let began = BSONDatetime.now.milliseconds - server.uptime.components.seconds * 1_000
        let text = "Access control is not enabled for the database; start the server with --auth"
        return ([line(BSONDatetime(milliseconds: began), "W", text)], 1)
    }

    /// Returns a line in MongoDB's form.
    private static func line(
        _ time: BSONDatetime, _ severity: String, _ text: String
    ) -> BSONDocument {
        [
            "t": .datetime(time), "s": .string(severity), "c": "-", "id": 0, "ctx": "-",
            "msg": .string(text),
        ]
    }
}
