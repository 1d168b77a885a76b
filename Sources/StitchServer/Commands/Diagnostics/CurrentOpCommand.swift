internal import BSONStore

/// Lists the running commands and the open cursors, with `$all` the idle connections, and with the
/// comment `{stitchsyncDevices: true}` the devices.
enum CurrentOpCommand {
    /// Whether a command asks for devices; MongoDB takes any comment, and no other option.
    private static func asksForDevices(_ call: CommandCall) -> Bool {
        call["comment"]?.documentValue?["stitchsyncDevices"]?.boolValue == true
    }

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
            var reply: BSONDocument = ["inprog": .array(BSONArray(operations + cursors))]
            if asksForDevices(call) {
                let devices = call.server.devices(for: call.connection)
                    .map { BSONValue.document($0) }
                reply.append("devices", .array(BSONArray(devices)))
            }
            return .reply(reply)
        })
}

extension OperationTable.Operation {
    /// The operation as `currentOp` lists it, without the values in its command.
    var document: BSONDocument {
        // A `getMore` names its collection in a field.
        let name = call.target.stringValue ?? call.string("collection") ?? "$cmd"
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
