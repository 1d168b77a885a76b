internal import BSONStore

/// Lists the running commands and the open cursors, and with `$all` the idle connections.
enum CurrentOpCommand {
    static let definition = CommandDefinition(
        "currentOp", aliases: [], [.adminOnly, .vital],
        fields: nil, required: [],
        privileges: .access(.monitoring), underRules: .refused, gateway: .here,
        statements: nil, cursor: .none,
        .store { call, backend in
            var operations = call.server.operations.all.map { BSONValue.document($0.document) }
            if call.flag("$all") {
                operations += call.server.clients.filter { !$0.isWaiting }.map {
                    BSONValue.document($0.client.idleEntry)
                }
            }
            let cursors = backend.cursors.all.map { cursor in
                BSONValue.document([
                    "type": "idleCursor", "ns": .string(cursor.namespace.description),
                ])
            }
            return .reply(["inprog": .array(BSONArray(operations + cursors))])
        })
}

extension OperationTable.Operation {
    /// The operation as `currentOp` lists it, without the values in its command.
    var document: BSONDocument {
        let name = call.target.stringValue ?? "$cmd"
        let took = ContinuousClock.now - startedAt
        var document: BSONDocument = [
            "type": "op", "opid": .int32(number), "active": true,
            "op": "command", "ns": .string("\(call.database).\(name)"),
            "secs_running": .int64(Int64(took / .seconds(1))),
            "microsecs_running": .int64(Int64(took / .microseconds(1))),
            "command": [call.name: .string(name), "$db": .string(call.database)],
        ]
        let client = ConnectedClient(call.connection)
        for (name, value) in client.fields { document.append(name, value) }
        document.append("stitchsync", .document(client.activity(isWaiting: true)))
        return document
    }
}
