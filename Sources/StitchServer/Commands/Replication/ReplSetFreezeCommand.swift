internal import BSONStore

/// Prevents the election of the server for some time, or allows it again.
enum ReplSetFreezeCommand {
    static let definition = CommandDefinition(
        "replSetFreeze", aliases: [], [.adminOnly],
        fields: nil, required: [],
        privileges: .access(.clusterAdministration), underRules: .refused, gateway: .here,
        statements: nil, cursor: .none,
        .server { call in
            let seconds = max(0, call.number("replSetFreeze") ?? 0)
            try call.server.member.freeze(seconds: min(seconds, Int(Int32.max)))
            switch seconds {
            case 0: return .reply(["info": "unfreezing"])
            case 1: return .reply(["warning": "you really want to freeze for only 1 second?"])
            default: return .ok
            }
        })
}
