internal import BSONStore

/// Begins a new log file, of which there are none.
enum LogRotateCommand {
    static let rule = CommandDefinition(
        "logRotate", [.adminOnly], fields: ["comment": .any],
        .server { call in
            .ok
        })
}
