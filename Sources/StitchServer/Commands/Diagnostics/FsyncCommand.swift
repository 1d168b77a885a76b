internal import BSONStore

/// Waits for the disk, as every commit does.
enum FsyncCommand {
    static let rule = CommandDefinition(
        "fsync", [.adminOnly],
        fields: ["lock": .any, "async": .any, "fsyncLockAcquisitionTimeoutMillis": .any],
        .server { call in
            .reply(["numFiles": 1])
        })
}
