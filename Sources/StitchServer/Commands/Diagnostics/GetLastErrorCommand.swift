internal import BSONStore

/// Reports the result of the connection's last command, for old clients.
///
/// Source: MongoDB manual of version 4.4, "getLastError".
enum GetLastErrorCommand {
    static let definition = CommandDefinition(
        "getLastError", aliases: ["getlasterror"], [],
        fields: nil, required: [],
        privileges: .access(.signedIn), underRules: .harmless, gateway: .here,
        statements: nil, cursor: .none,
        .server { call in
            let last = call.connection.state.withLock { $0.lastOutcome }
            var reply: BSONDocument = [
                "connectionId": .int32(call.connection.id), "n": last?.count ?? 0,
                "syncMillis": 0, "writtenTo": nil, "err": .null,
            ]
            guard let last else { return .reply(reply) }
            if let updated = last.updatedExisting {
                reply.append("updatedExisting", .bool(updated))
            }
            if let id = last.upserted { reply.append("upserted", id) }
            guard let message = last.message else { return .reply(reply) }
            reply.set("err", to: message)
            if let code = last.code { reply.append("code", code) }
            if let name = last.codeName { reply.append("codeName", name) }
            return .reply(reply)
        })
}
