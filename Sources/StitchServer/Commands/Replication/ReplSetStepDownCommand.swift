internal import BSONStore

/// Makes the server a secondary for some time: it refuses writes, and its transactions end.
///
/// Source: the server's `repl_set_commands.cpp`.
enum ReplSetStepDownCommand {
    static let definition = CommandDefinition(
        "replSetStepDown", aliases: [], [.adminOnly, .vital],
        fields: nil, required: [],
        privileges: .access(.clusterAdministration), underRules: .refused, gateway: .here,
        statements: nil, cursor: .none, .store(run))

    private static func run(_ call: CommandCall, _ backend: StoreBackend) throws -> CommandOutcome {
        let given = call.number("replSetStepDown") ?? 0
        guard given >= 0 else {
            throw CommandFailure(.badValue, "stepdown period must be a positive integer")
        }
        let seconds = given == 0 ? 60 : given
        let isForced = call.flag("force")
        let catchingUp = call.number("secondaryCatchUpPeriodSecs") ?? (isForced ? 0 : 10)
        guard catchingUp >= 0 else {
            throw CommandFailure(
                .badValue, "secondaryCatchUpPeriodSecs period must be a positive or absent")
        }
        guard seconds >= catchingUp else {
            throw CommandFailure(
                .badValue, "stepdown period must be longer than secondaryCatchUpPeriodSecs")
        }
        // The set has no other members that could catch up.
        guard isForced || !call.server.member.standing.isPrimary else {
            throw CommandFailure(
                262,
                "No electable secondaries caught up. Please use the replSetStepDown command with "
                    + "the argument {force: true} to force node to step down.")
        }
        try call.server.member.stepDown(seconds: min(seconds, Int(Int32.max)))
        backend.runner.transactions.giveUpAll()
        return .ok
    }
}
