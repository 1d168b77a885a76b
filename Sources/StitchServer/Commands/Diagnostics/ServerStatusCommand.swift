internal import BSONStore

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Reports the state of the server.
enum ServerStatusCommand {
    static let definition = CommandDefinition(
        "serverStatus", aliases: [], [.vital],
        fields: nil, required: [],
        privileges: .access(.monitoring), underRules: .refused, gateway: .here,
        statements: nil, cursor: .none, .store(run))

    private static func run(_ call: CommandCall, _ backend: StoreBackend) -> CommandOutcome {
        let server = call.server
        let uptime = server.uptime
        let isPrimary = server.member.standing.isPrimary
        let seconds = uptime.components.seconds
        let counts = backend.cursors.counts
        let (open, made) = server.state.withLock { ($0.connectionsOpen, $0.connectionsMade) }
        return .reply([
            "host": .string(call.connection.local),
            "version": .string(call.server.settings.version.text),
            "process": "mongod", "pid": .int64(Int64(getpid())),
            "uptime": .double(Double(seconds)), "uptimeMillis": .int64(uptime.milliseconds),
            "uptimeEstimate": .int64(seconds), "localTime": .datetime(.now),
            "connections": [
                "current": .int32(Int32(open)),
                "available": .int32(Int32(max(0, server.settings.connectionsMax - open))),
                "totalCreated": .int32(Int32(clamping: made)), "active": 1,
            ],
            "storageEngine": [
                "name": "stitchsync", "supportsCommittedReads": true,
                "persistent": .bool(!server.settings.isTemporary), "readOnly": false,
            ],
            "repl": [
                "setName": .string(server.settings.replicaSet),
                "isWritablePrimary": .bool(isPrimary), "secondary": .bool(!isPrimary),
                "hosts": [.string(call.connection.local)],
            ],
            "logicalSessionRecordCache": [
                "activeSessionsCount": .int32(Int32(backend.sessions.all.count))
            ],
            "metrics": [
                "commands": .document(commands(server.metrics)),
                "cursor": [
                    "timedOut": .int64(counts.timedOut),
                    "open": [
                        "noTimeout": .int64(counts.noTimeout), "pinned": .int64(counts.pinned),
                        "total": .int64(counts.total),
                    ],
                ],
            ],
        ])
    }

    /// Returns the counts of calls and failures of each command.
    private static func commands(_ metrics: ServerMetrics) -> BSONDocument {
        var commands = BSONDocument()
        for (name, calls) in metrics.all {
            commands.append(
                name,
                ["failed": .int64(Int64(calls.failures)), "total": .int64(Int64(calls.count))])
        }
        return commands
    }
}
