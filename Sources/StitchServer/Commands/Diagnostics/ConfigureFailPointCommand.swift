internal import BSONStore

/// Injects faults, for the tests of drivers; only on servers started with test commands.
enum ConfigureFailPointCommand {
    static let definition = CommandDefinition(
        "configureFailPoint", aliases: [], [.adminOnly, .testOnly],
        fields: nil, required: [],
        privileges: .access(.clusterAdministration), underRules: .refused, gateway: .here,
        statements: nil, cursor: .none, .server(run))

    private static func run(_ call: CommandCall) throws -> CommandOutcome {
        guard let name = call.target.stringValue else {
            throw CommandFailure(.typeMismatch, "The fail point's name must be a string")
        }
        guard FailPoints.known.contains(name) else {
            throw CommandFailure(96, "\(name) was not found")
        }
        let before = call.server.failPoints.set(
            name, try mode(call["mode"]), call.document("data") ?? BSONDocument())
        return .reply(["count": .int64(before)])
    }

    private static func mode(_ value: BSONValue?) throws(CommandFailure) -> FailPoints.Mode {
        if value?.stringValue == "off" { return .off }
        if value?.stringValue == "alwaysOn" { return .always }
        if let times = value?.documentValue?["times"]?.wholeNumber {
            return times > 0 ? .times(times) : .off
        }
        if let skip = value?.documentValue?["skip"]?.wholeNumber { return .skip(skip) }
        throw CommandFailure(.badValue, "unknown mode of a fail point")
    }
}
