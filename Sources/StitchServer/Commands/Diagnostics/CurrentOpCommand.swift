internal import BSONStore

/// Lists the running commands and the open cursors.
enum CurrentOpCommand {
    static let rule = CommandDefinition(
        "currentOp", [.adminOnly], fields: nil,
        .store { call, store in
            let operations = call.server.operations.all.map { BSONValue.document(entry($0)) }
            let cursors = store.cursors.all.map { cursor in
                BSONValue.document([
                    "type": "idleCursor", "ns": .string(cursor.namespace.description),
                ])
            }
            return .reply(["inprog": .array(BSONArray(operations + cursors))])
        })

    /// Returns the entry of a command, without the values in it.
    private static func entry(_ operation: OperationTable.Operation) -> BSONDocument {
        let call = operation.call
        let name = call.target.stringValue ?? "$cmd"
        let took = ContinuousClock.now - operation.startedAt
        return [
            "type": "op", "opid": .int32(operation.number), "active": true,
            "op": "command", "ns": .string("\(call.database).\(name)"),
            "connectionId": .int32(call.connection.id), "client": .string(call.connection.peer),
            "secs_running": .int64(Int64(took / .seconds(1))),
            "microsecs_running": .int64(Int64(took / .microseconds(1))),
            "command": [call.name: .string(name), "$db": .string(call.database)],
        ]
    }
}
