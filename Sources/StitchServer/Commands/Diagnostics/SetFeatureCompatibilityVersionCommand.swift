internal import BSONStore

/// Accepts the only supported version.
enum SetFeatureCompatibilityVersionCommand {
    static let definition = CommandDefinition(
        "setFeatureCompatibilityVersion", aliases: [], [.adminOnly, .takesWriteConcern],
        fields: ["confirm": .flag], required: [],
        privileges: .access(.clusterAdministration), underRules: .refused, gateway: .here,
        statements: nil, cursor: .none,
        .server { call in
            let version = call.server.settings.version.compatibility
            guard call.target.stringValue == version else {
                throw CommandFailure(
                    .badValue, "Invalid feature compatibility version value; expected '\(version)'")
            }
            return .ok
        })
}
