internal import BSONStore

/// Ends a command that runs; those of this server are short.
enum KillOpCommand {
    static let rule = CommandRule(
        "killOp", [.adminOnly], fields: ["op": .any],
        .server { call in
            .reply(["info": "attempting to kill op"])
        })
}
