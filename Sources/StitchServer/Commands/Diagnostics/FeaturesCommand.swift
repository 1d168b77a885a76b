internal import BSONStore

/// Reports the features of the build, for old tools.
enum FeaturesCommand {
    static let rule = CommandDefinition(
        "features", [], fields: [:],
        .server { call in
            .reply(["js": ["utf8": true, "name": "none"], "oidMachine": 0])
        })
}
