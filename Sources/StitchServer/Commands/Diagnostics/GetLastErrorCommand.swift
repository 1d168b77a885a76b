internal import BSONStore

/// Reports the result of the connection's last command, for old clients.
///
/// Source: MongoDB manual of version 4.4, "getLastError".
enum GetLastErrorCommand {
    static let rule = CommandDefinition(
        "getLastError", aliases: ["getlasterror"], [], fields: nil,
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

/// The part of a reply that `getLastError` reports.
struct LastCommandResult: Sendable {
    /// The number of written documents.
    let count: BSONValue
    /// Whether an update found a document; `nil` for other commands.
    let updatedExisting: Bool?
    /// The `_id` of a document that an update inserted.
    let upserted: BSONValue?
    /// The error message.
    let message: BSONValue?
    /// The error code.
    let code: BSONValue?
    /// The name of the error code.
    let codeName: BSONValue?

    /// Reads a command's reply.
    init(_ reply: BSONDocument) {
        let isWrite = reply["nModified"] != nil
        let last = reply["lastErrorObject"]?.documentValue
        let firstUpsert = reply["upserted"]?.arrayValue?.values.first?.documentValue?["_id"]
        let count: BSONValue = last?["n"] ?? reply["n"] ?? 0
        self.count = count
        upserted = last?["upserted"] ?? firstUpsert
        let found = (count.int64Value ?? 0) > 0 && upserted == nil
        updatedExisting = last?["updatedExisting"]?.boolValue ?? (isWrite ? found : nil)
        // Of several failed writes, the last one is reported.
        let refused = reply["writeErrors"]?.arrayValue?.compactMap(\.documentValue).last
        let error = refused ?? (reply["errmsg"] == nil ? nil : reply)
        message = error?["errmsg"]
        code = error?["code"]
        codeName = error?["codeName"]
    }

    /// Whether to keep the result of a command: not of `getLastError` itself, nor of commands that
    /// drivers send on their own.
    static func isTold(of name: String) -> Bool {
        !["getlasterror", "hello", "ismaster", "ping"].contains(name.lowercased())
    }
}
