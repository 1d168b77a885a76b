internal import BSONStore

/// Ends a command that runs.
///
/// Source: MongoDB manual, "killOp": an answer of 1 also where there is no such command any more.
enum KillOpCommand {
    static let rule = CommandDefinition(
        "killOp", [.adminOnly], fields: ["op": .any],
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
