internal import BSONStore

/// Reports the MongoDB version that the server emulates.
enum BuildInfoCommand {
    static let definition = CommandDefinition(
        "buildInfo", aliases: ["buildinfo"], [.unauthenticated, .vital],
        fields: [:], required: [],
        privileges: .access(.read), underRules: .harmless, gateway: .here,
        statements: nil, cursor: .none,
        .server { call in
            .reply([
                "version": .string(call.server.settings.version.text),
                "gitVersion": "ce59cfc6a3c5e5c067dca0d30697edd68d4f5188",
                "modules": ["stitchsync"], "allocator": "system",
                "javascriptEngine": "none", "sysInfo": "deprecated",
                "versionArray": .array(call.server.settings.version.array),
                "openssl": ["running": "BoringSSL", "compiled": "BoringSSL"],
                "buildEnvironment": [:], "bits": 64, "debug": false,
                "maxBsonObjectSize": 16_777_216, "storageEngines": ["stitchsync"],
            ])
        })
}
