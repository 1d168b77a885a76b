internal import BSONStore

/// Succeeds without effect: the server writes no log files.
enum LogRotateCommand {
    static let definition = CommandDefinition(
        "logRotate", aliases: [], [.adminOnly],
        fields: ["comment": .any], required: [],
        privileges: .access(.clusterAdministration), underRules: .refused, gateway: .here,
        statements: nil, cursor: .none,
        .server { call in
            .ok
        })
}
