internal import BSONStore

/// Succeeds without effect: the server writes no log files.
enum LogRotateCommand {
    static let rule = CommandDefinition(
        "logRotate", [.adminOnly], fields: ["comment": .any],
        .server { call in
            .ok
        })
}
