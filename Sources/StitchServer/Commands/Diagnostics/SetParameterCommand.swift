internal import BSONStore

/// Changes settings while the server runs; most have no effect here.
enum SetParameterCommand {
    static let definition = CommandDefinition(
        "setParameter", aliases: [], [.adminOnly],
        fields: nil, required: [],
        privileges: .access(.clusterAdministration), underRules: .refused, gateway: .here,
        statements: nil, cursor: .none,
        .server { call in
            guard
                let (name, value) = call.body.dropFirst().first(where: {
                    !CommandCall.generalArguments.contains($0.key)
                })
            else {
                throw CommandFailure(
                    .invalidOptions, "no option found to set, use help:true to see options ")
            }
            guard let before = GetParameterCommand.parameters(call.server)[name] else {
                throw CommandFailure(
                    .invalidOptions,
                    "attempted to set unrecognized parameter [\(name)], use help:true to see options "
                )
            }
            try check(value, of: name, before: before)
            call.server.state.withLock { $0.parameters[name] = value }
            return .reply(["was": before])
        })

    /// Refuses a value that is not a number where one is needed.
    private static func check(
        _ value: BSONValue, of name: String, before: BSONValue
    ) throws(CommandFailure) {
        guard before.wholeNumber != nil else { return }
        let isNumber =
            switch value {
            case .double(let number): !number.isNaN
            case .decimal128(let number): !number.doubleValue.isNaN
            default: value.wholeNumber != nil
            }
        guard isNumber, name != "logLevel" || (value.wholeNumber ?? 0) >= 0 else {
            throw CommandFailure(
                .badValue, "Invalid value for \(name): \(value.extendedJSON(.relaxed))")
        }
    }
}
