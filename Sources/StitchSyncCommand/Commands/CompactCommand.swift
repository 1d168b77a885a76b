#if CommandLine
    import ArgumentParser
    import BSONStore

    /// Gives a file's free room back.
    struct CompactCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "compact",
            abstract: "Write a store's file anew without its free pages.",
            discussion: """
                Needs room for a second copy meanwhile; others may read, writes wait.

                Example:
                  stitchsync compact shop.stitch

                Exit code: 0, 1 when the disk is full or somebody else keeps the file, 64 for a wrong \
                command line.
                """)

        @Argument(help: "The store's file.", completion: .file())
        var store: String

        func run() async throws {
            let opened = try DocumentStore.existing(store)
            defer { opened.close() }
            let before = try opened.statistics().fileBytes
            try opened.compact()
            let after = try opened.statistics().fileBytes
            try Console.standard.say("\(store): \(before) bytes before, \(after) after")
        }
    }
#endif
