#if CommandLine
    import ArgumentParser
    import BSONStore
    import StitchSync

    /// Brings a collection in step with a remote store.
    struct SyncCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "sync",
            abstract: "Bring a collection in step with a remote.",
            discussion: """
                Every document that either side has is kept in step from then on. The remote is a \
                store file of its own; it is made when it is not there.

                Example:
                  stitchsync sync shop.stitch shop.products --remote remote.stitch --conflicts merge

                Exit code: 0 when both sides are in step, 1 when something is left or the sync \
                failed, 64 for a wrong command line.
                """)

        /// Names what becomes of a document that both sides changed.
        enum Conflicts: String, CaseIterable, ExpressibleByArgument {
            case remoteWins = "remote-wins"
            case localWins = "local-wins"
            case merge

            var handler: ConflictHandler<BSONDocument> {
                switch self {
                case .remoteWins: .remoteWins
                case .localWins: .localWins
                case .merge: ConflictHandler { FieldMerge.resolution(of: $0) }
                }
            }
        }

        @OptionGroup var place: StoreArguments

        @Option(help: "The remote's store file.", completion: .file())
        var remote: String

        @Option(help: "What becomes of a document that both sides changed.")
        var conflicts = Conflicts.remoteWins

        func run() async throws {
            let console = Console.standard
            let session = try await SyncSession(
                store: try place.open(), remotePath: remote, namespace: place.namespace,
                conflictHandler: conflicts.handler)
            defer { session.close() }
            let adopted = try await session.adoptAll()
            let outcome = try await session.run(label: "syncing", on: console.error)
            for error in outcome.errors { try console.warn("error: \(error)") }
            let report = outcome.report
            try console.say(
                "\(outcome.after.synced) documents synced, \(adopted) of them new: "
                    + "\(report.uploaded) sent, \(report.taken) taken, \(report.removed) removed, "
                    + "\(report.conflicts) conflicts resolved in \(outcome.passes) passes")
            guard outcome.isInStep else {
                try console.say(
                    "not in step: \(outcome.after.pending) pending, "
                        + "\(outcome.after.paused) paused")
                throw ExitCode.failure
            }
            try console.say("in step")
        }
    }
#endif
