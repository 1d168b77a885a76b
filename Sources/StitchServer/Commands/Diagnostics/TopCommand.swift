internal import BSONStore

/// Reports the usage of collections, which the server does not measure.
enum TopCommand {
    static let rule = CommandDefinition(
        "top", [.adminOnly], fields: [:],
        .server { call in
            .reply(["totals": ["note": "all times in microseconds"]])
        })
}
