#if CommandLine
    import ArgumentParser
    import BSONStore
    import StitchSync

    /// The command that writes a report about a store as an HTML page.
    struct InspectCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "inspect",
            abstract: "Write a report of a store as one HTML page.",
            discussion: """
                Collections and sizes, what is pending, paused and rejected, the newest conflicts, a \
                timeline of the newest passes, and the synced documents with their versions. The page \
                needs nothing beside it: no scripts, no network.

                Examples:
                  stitchsync inspect shop.stitch --out report.html
                  stitchsync inspect shop.stitch --json

                Exit code: 0, 1 when the store cannot be read or the page not be written, 64 for a \
                wrong command line.
                """)

        @Argument(help: "The store's file.", completion: .file())
        var store: String

        @Option(
            name: [.long, .short], help: "The file to write, or - for standard output.",
            completion: .file())
        var out = "report.html"

        @Option(help: "How many documents of each collection are listed at most.")
        var limit = 100

        @Flag(help: "Write one JSON object to standard output instead.")
        var json = false

        func validate() throws {
            guard limit >= 0 else { throw ValidationError("--limit cannot be less than 0") }
        }

        func run() async throws {
            let opened = try DocumentStore.looking(at: store)
            defer { opened.close() }
            let inspection = try await StoreInspection(
                of: opened, name: store, documentsMax: limit)
            if json {
                return try Console.standard.say(inspection.document.extendedJSON(.canonical))
            }
            let file = try OutputFile(out, sparing: store)
            try file.descriptor.write(Array(InspectionPage(inspection).html.utf8))
            try file.keep()
            if out != "-" { try Console.standard.say("\(store): the report is in \(out)") }
        }
    }
#endif
