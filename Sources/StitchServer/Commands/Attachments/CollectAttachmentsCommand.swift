internal import BSONStore

/// Removes the files to which no document refers, as the server does every hour.
///
/// `{stitchsyncCollectAttachments: 1, graceMinutes: 60}` returns how many files were `marked` and
/// `unmarked`, and how many files and chunks were removed.
enum CollectAttachmentsCommand {
    static let definition = CommandDefinition(
        "stitchsyncCollectAttachments", aliases: [], [.adminOnly],
        fields: ["graceMinutes": .number], required: [],
        privileges: .access(.clusterAdministration), underRules: .refused, gateway: .attachments,
        statements: nil, cursor: .none,
        .store { call, backend in
            try reply(
                StoredAttachments(backend.store, in: backend.runner.turn).sweep(
                    now: .now, graceMS: graceMS(call)))
        })

    /// Returns the grace that a command names, or the usual one.
    ///
    /// - Throws: 2 (BadValue) for a negative number.
    static func graceMS(_ call: CommandCall) throws(CommandFailure) -> Int64 {
        guard let minutes = try call.count("graceMinutes") else {
            return AttachmentSweepLimits.graceMS
        }
        return Int64(min(minutes, minutesMax)) * 60_000
    }

    /// The longest grace: a year.
    private static let minutesMax = 525_600

    static func reply<Place>(_ counts: AttachmentSweep<Place>.Counts) -> CommandOutcome {
        .reply([
            "marked": .int64(Int64(counts.marked)), "unmarked": .int64(Int64(counts.unmarked)),
            "removedFiles": .int64(Int64(counts.removedFiles)),
            "removedChunks": .int64(Int64(counts.removedChunks)),
        ])
    }
}
