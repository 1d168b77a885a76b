internal import BSONStore

/// Succeeds without effect: every commit already waits for the disk.
enum FsyncCommand {
    static let definition = CommandDefinition(
        "fsync", aliases: [], [.adminOnly],
        fields: ["lock": .any, "async": .any, "fsyncLockAcquisitionTimeoutMillis": .any],
        required: [],
        privileges: .access(.clusterAdministration), underRules: .refused, gateway: .here,
        statements: nil, cursor: .none,
        .server { call in
            .reply(["numFiles": 1])
        })
}
