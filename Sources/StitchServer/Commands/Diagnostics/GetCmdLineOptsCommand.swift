internal import BSONStore

/// Reports the command line of the server.
enum GetCmdLineOptsCommand {
    static let definition = CommandDefinition(
        "getCmdLineOpts", aliases: [], [.adminOnly],
        fields: [:], required: [],
        privileges: .access(.monitoring), underRules: .refused, gateway: .here,
        statements: nil, cursor: .none,
        .server { call in
            let arguments = call.server.settings.arguments
            let parameters: BSONValue =
                call.server.settings.allowsTestCommands
                ? ["enableTestCommands": "1"] : [:]
            return .reply([
                "argv": .array(BSONArray(arguments.map { .string($0) })),
                "parsed": [
                    "net": [
                        "bindIp": .string(call.server.settings.host),
                        "port": .int32(Int32(clamping: call.server.settings.port)),
                    ], "replication": ["replSet": .string(call.server.settings.replicaSet)],
                    "setParameter": parameters,
                ],
            ])
        })
}
