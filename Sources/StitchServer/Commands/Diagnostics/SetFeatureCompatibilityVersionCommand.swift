internal import BSONStore

/// Accepts the only supported version.
enum SetFeatureCompatibilityVersionCommand {
    static let rule = CommandDefinition(
        "setFeatureCompatibilityVersion", [.adminOnly, .takesWriteConcern],
        fields: ["confirm": .flag],
        .server { call in
            let version = call.server.settings.version.compatibility
            guard call.target.stringValue == version else {
                throw CommandFailure(
                    .badValue, "Invalid feature compatibility version value; expected '\(version)'")
            }
            return .ok
        })
}
