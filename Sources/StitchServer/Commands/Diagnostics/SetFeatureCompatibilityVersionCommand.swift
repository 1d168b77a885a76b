internal import BSONStore

/// Accepts the only supported version.
enum SetFeatureCompatibilityVersionCommand {
    static let rule = CommandDefinition(
        "setFeatureCompatibilityVersion", [.adminOnly, .takesWriteConcern],
        fields: ["confirm": .flag],
        .server { call in
            guard call.target.stringValue == "7.0" else {
                throw CommandFailure(
                    .badValue, "Invalid feature compatibility version value; expected '7.0'")
            }
            return .ok
        })
}
