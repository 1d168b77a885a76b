internal import BSONStore

/// Tells what a build can do; kept for old tools.
enum FeaturesCommand {
    static let rule = CommandDefinition(
        "features", [], fields: [:],
        .server { call in
            .reply(["js": ["utf8": true, "name": "none"], "oidMachine": 0])
        })
}
