internal import BSONStore

/// Interrupts a running command.
///
/// Source: MongoDB manual, "killOp": the reply is `ok: 1` even if the command has already ended.
enum KillOpCommand {
    static let definition = CommandDefinition(
        "killOp", aliases: [], [.adminOnly, .vital],
        fields: ["op": .any], required: [],
        privileges: .access(.clusterAdministration), underRules: .refused, gateway: .here,
        statements: nil, cursor: .none,
        .server { call in
            guard let op = call["op"] else {
                throw CommandFailure(
                    40414, "BSON field 'killOp.op' is missing but a required field")
            }
            guard let number = op.wholeNumber.flatMap({ Int32(exactly: $0) }) else {
                throw CommandFailure(
                    .typeMismatch,
                    "BSON field 'killOp.op' is the wrong type '\(op.type.alias)': give the "
                        + "opid that currentOp tells")
            }
            _ = call.server.operations.stop(number)
            return .reply(["info": "attempting to kill op"])
        })
}
