internal import BSONStore

/// Reports the server's parameters.
enum GetParameterCommand {
    static let definition = CommandDefinition(
        "getParameter", aliases: [], [.adminOnly],
        fields: nil, required: [],
        privileges: .access(.monitoring), underRules: .refused, gateway: .here,
        statements: nil, cursor: .none, .server(run))

    private static func run(_ call: CommandCall) throws -> CommandOutcome {
        let all = parameters(call.server)
        let (isAll, showsDetails) = choice(call.target)
        var reply = BSONDocument()
        for (name, value) in all.sorted(by: { $0.key < $1.key }) {
            guard isAll || call.body[name] != nil else { continue }
            reply.append(
                name,
                showsDetails
                    ? ["value": value, "settableAtRuntime": true, "settableAtStartup": true]
                    : value)
        }
        guard !reply.isEmpty else {
            throw CommandFailure(.invalidOptions, "no option found to get")
        }
        return .reply(reply)
    }

    private static func choice(_ target: BSONValue) -> (isAll: Bool, showsDetails: Bool) {
        if let text = target.stringValue { return (text == "*", false) }
        guard let document = target.documentValue else { return (false, false) }
        return (
            document["allParameters"]?.isTrue ?? false, document["showDetails"]?.isTrue ?? false
        )
    }

    static func parameters(_ server: ServerContext) -> [String: BSONValue] {
        var all: [String: BSONValue] = [
            "authenticationMechanisms": ["SCRAM-SHA-256", "SCRAM-SHA-1"],
            "authSchemaVersion": 5,
            "enableTestCommands": .bool(server.settings.allowsTestCommands),
            "featureCompatibilityVersion": [
                "version": .string(server.settings.version.compatibility)
            ],
            "localLogicalSessionTimeoutMinutes": .int32(
                Int32(server.settings.sessionTimeoutMinutes)),
            "cursorTimeoutMillis": .int64(Int64(server.settings.cursorTimeoutSeconds) * 1_000),
            "logLevel": 0, "notablescan": false, "quiet": false,
            "requireApiVersion": false, "transactionLifetimeLimitSeconds": 60,
            "ttlMonitorEnabled": true,
            "ttlMonitorSleepSecs": .int32(ServerContext.usualExpirySleepSeconds),
            "maxTransactionLockRequestTimeoutMillis": 5,
        ]
        for (name, value) in server.state.withLock({ $0.parameters }) { all[name] = value }
        return all
    }
}
