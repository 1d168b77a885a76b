internal import BSONStore

/// Tells old clients how the last command of their connection went.
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

/// Keeps of a command's answer what `getLastError` tells.
struct LastCommandResult: Sendable {
    /// How many documents were written.
    let count: BSONValue
    /// Whether an update found a document; `nil` for other commands.
    let updatedExisting: Bool?
    /// The `_id` of a document that an update inserted.
    let upserted: BSONValue?
    /// What went wrong.
    let message: BSONValue?
    /// The error's number.
    let code: BSONValue?
    /// The error's name.
    let codeName: BSONValue?

    /// Takes a command's answer.
    init(_ reply: BSONDocument) {
        let isWrite = reply["nModified"] != nil
        let last = reply["lastErrorObject"]?.documentValue
        let firstUpsert = reply["upserted"]?.arrayValue?.values.first?.documentValue?["_id"]
        let count: BSONValue = last?["n"] ?? reply["n"] ?? 0
        self.count = count
        upserted = last?["upserted"] ?? firstUpsert
        let found = (count.int64Value ?? 0) > 0 && upserted == nil
        updatedExisting = last?["updatedExisting"]?.boolValue ?? (isWrite ? found : nil)
        // Of several refused writes the last one is told.
        let refused = reply["writeErrors"]?.arrayValue?.compactMap(\.documentValue).last
        let error = refused ?? (reply["errmsg"] == nil ? nil : reply)
        message = error?["errmsg"]
        code = error?["code"]
        codeName = error?["codeName"]
    }

    /// Whether a command is one whose outcome is kept: neither the question itself nor what drivers
    /// ask on their own.
    static func isTold(of name: String) -> Bool {
        !["getlasterror", "hello", "ismaster", "ping"].contains(name.lowercased())
    }
}
