#if CommandLine
    import ArgumentParser
    import BSONStore

    /// The command that returns a file's unused space to the system.
    struct CompactCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "compact",
            abstract: "Rewrite a store's file without its free pages.",
            discussion: """
                Needs free disk space for a second copy. Other processes may read meanwhile; their \
                writes wait.

                Example:
                  stitchsync compact shop.stitch

                Exit code: 0, 1 when the disk is full or another process blocks the file, 64 for a \
                wrong command line.
                """)

        @Argument(help: "The store's file.", completion: .file())
        var store: String

        @Flag(help: "Write one JSON object.")
        var json = false

        func run() async throws {
            let opened = try StoreOpening.existing(store)
            defer { opened.close() }
            let statistics = try opened.statistics()
            let before = statistics.fileBytes
            // Compaction writes the new pages to the write-ahead log first.
            let growth = FileGrowth(
                of: store + "-wal", to: before - statistics.freeBytes, label: "compacting")
            try opened.compact()
            try growth?.finish()
            let after = try opened.statistics().fileBytes
            let object: BSONDocument = [
                "before": .int64(Int64(before)), "after": .int64(Int64(after)),
            ]
            try Console.standard.say(
                json
                    ? object.extendedJSON(.relaxed)
                    : "\(store): \(before) bytes before, \(after) after")
        }
    }
#endif
