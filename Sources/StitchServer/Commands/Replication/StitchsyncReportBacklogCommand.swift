internal import BSONStore

/// Notes what waits on a device, for operators.
///
/// `{stitchsyncReportBacklog: 1, pending: 3, paused: 0, rejected: 1}`.
enum StitchsyncReportBacklogCommand {
    /// The name by which `hello` reports the command.
    static let feature = "backlogs"
    /// The numbers that a device reports.
    static let numbers = ["pending", "paused", "rejected"]

    static let definition = CommandDefinition(
        "stitchsyncReportBacklog", aliases: [], [],
        fields: ["pending": .number, "paused": .number, "rejected": .number], required: [],
        privileges: .access(.signedIn), underRules: .harmless, gateway: .here,
        statements: nil, cursor: .none,
        .server { call in
            if let backlog = backlog(of: call.body) {
                call.connection.state.withLock { $0.backlog = backlog }
            }
            return .ok
        })

    /// Returns the numbers that a document has, and the time; `nil` for a document without numbers, which
    /// does not tell what waits.
    static func backlog(of document: BSONDocument) -> BSONDocument? {
        guard numbers.contains(where: { document[$0] != nil }) else { return nil }
        var backlog = BSONDocument()
        for name in numbers {
            backlog.append(name, .int64(max(0, document[name]?.int64Value ?? 0)))
        }
        backlog.append("time", .datetime(.now))
        return backlog
    }
}
