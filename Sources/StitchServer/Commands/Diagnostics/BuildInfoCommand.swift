internal import BSONStore

/// Reports the MongoDB version that the server emulates.
enum BuildInfoCommand {
    /// The emulated MongoDB version.
    static let version = "7.0.14"

    static let rule = CommandDefinition(
        "buildInfo", aliases: ["buildinfo"], [.unauthenticated], fields: [:],
        .server { _ in
            .reply([
                "version": .string(version),
                "gitVersion": "ce59cfc6a3c5e5c067dca0d30697edd68d4f5188",
                "modules": ["stitchsync"], "allocator": "system",
                "javascriptEngine": "none", "sysInfo": "deprecated",
                "versionArray": [7, 0, 14, 0],
                "openssl": ["running": "BoringSSL", "compiled": "BoringSSL"],
                "buildEnvironment": [:], "bits": 64, "debug": false,
                "maxBsonObjectSize": 16_777_216, "storageEngines": ["stitchsync"],
            ])
        })
}
