internal import BSONStore

/// Tells old clients that their last write went well: every write has its own answer.
enum GetLastErrorCommand {
    static let rule = CommandRule(
        "getLastError", aliases: ["getlasterror"], [], fields: nil,
        .server { call in
            .reply([
                "connectionId": .int32(call.connection.id), "n": 0, "syncMillis": 0,
                "writtenTo": nil, "err": nil,
            ])
        })
}
