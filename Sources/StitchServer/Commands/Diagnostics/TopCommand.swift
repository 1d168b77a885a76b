internal import BSONStore

/// Reports the usage of collections, which the server does not measure.
enum TopCommand {
    static let definition = CommandDefinition(
        "top", aliases: [], [.adminOnly],
        fields: [:], required: [],
        privileges: .access(.monitoring), underRules: .refused, gateway: .here,
        statements: nil, cursor: .none,
        .server { call in
            .reply(["totals": ["note": "all times in microseconds"]])
        })
}
