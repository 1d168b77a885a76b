internal import BSONStore

/// Succeeds without effect: every commit already waits for the disk.
enum FsyncCommand {
    static let rule = CommandDefinition(
        "fsync", [.adminOnly],
        fields: ["lock": .any, "async": .any, "fsyncLockAcquisitionTimeoutMillis": .any],
        .server { call in
            .reply(["numFiles": 1])
        })
}
