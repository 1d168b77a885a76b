#if CommandLine
    import ArgumentParser
    import BSONStore
    import StitchSync

    /// The command that writes a report about a store as an HTML page.
    struct InspectCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "inspect",
            abstract: "Write a report about a store as one HTML page.",
            discussion: """
                The report shows collections and sizes, pending, paused and rejected documents, \
                the newest conflicts, a timeline of the newest passes, and the synced documents \
                with their versions. The page is one file, without scripts or network access.

                Examples:
                  stitchsync inspect shop.stitch --out report.html
                  stitchsync inspect shop.stitch --json

                Exit code: 0, 1 when the store cannot be read or the page cannot be written, 64 \
                for a wrong command line.
                """)

        @Argument(help: "The store's file.", completion: .file())
        var store: String

        @Option(
            name: [.long, .short], help: "The file to write, or - for standard output.",
            completion: .file())
        var out = "report.html"

        @Option(help: "The maximum number of listed documents of each collection.")
        var limit = 100

        @Flag(help: "Write one JSON object to standard output instead.")
        var json = false

        func validate() throws {
            guard limit >= 0 else { throw ValidationError("--limit must be at least 0") }
        }

        func run() async throws {
            let opened = try StoreOpening.inspecting(at: store)
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
