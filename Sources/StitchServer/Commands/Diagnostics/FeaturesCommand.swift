internal import BSONStore

/// Reports the features of the build, for old tools.
enum FeaturesCommand {
    static let definition = CommandDefinition(
        "features", aliases: [], [],
        fields: [:], required: [],
        privileges: .access(.signedIn), underRules: .harmless, gateway: .here,
        statements: nil, cursor: .none,
        .server { call in
            .reply(["js": ["utf8": true, "name": "none"], "oidMachine": 0])
        })
}
