internal import BSONStore

/// Tells what collections are used for; nothing is measured.
enum TopCommand {
    static let rule = CommandDefinition(
        "top", [.adminOnly], fields: [:],
        .server { call in
            .reply(["totals": ["note": "all times in microseconds"]])
        })
}
