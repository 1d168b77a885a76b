internal import BSONStore

/// Changes settings while the server runs; most have no effect here.
enum SetParameterCommand {
    static let rule = CommandRule(
        "setParameter", [.adminOnly], fields: nil,
        .server { call in
            guard
                let (name, value) = call.body.dropFirst().first(where: {
                    !CommandCall.generalArguments.contains($0.key)
                })
            else {
                throw CommandFault(
                    .invalidOptions, "no option found to set, use help:true to see options ")
            }
            guard let before = GetParameterCommand.parameters(call.server)[name] else {
                throw CommandFault(
                    .invalidOptions,
                    "attempted to set unrecognized parameter [\(name)], use help:true to see options "
                )
            }
            call.server.state.withLock { $0.parameters[name] = value }
            return .reply(["was": before])
        })
}
