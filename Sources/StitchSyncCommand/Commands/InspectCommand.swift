#if CommandLine
    import ArgumentParser
    import BSONStore
    import StitchSync

    #if Server
        import StitchServer
    #endif

    /// The command that writes a report about a store as an HTML page.
    struct InspectCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "inspect",
            abstract: "Write a report about a store as one HTML page.",
            discussion: """
                The report shows collections and sizes, pending, paused and rejected documents, \
                the newest conflicts, a timeline of the newest passes, and the synced documents \
                with their versions. The page is one file, without scripts or network access. With \
                --serve the same is shown in a browser on this machine, and is kept up to date \
                while an app uses the file; only the printed address opens the pages, and Ctrl-C \
                ends them.

                Examples:
                  stitchsync inspect shop.stitch --out report.html
                  stitchsync inspect shop.stitch --json
                  stitchsync inspect shop.stitch --serve

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

        #if Server
            @Flag(help: "Show the store in a browser instead, until Ctrl-C; only reads.")
            var serve = false

            @Option(help: "The port of --serve; 0 is any free one.")
            var port = 0
        #endif

        func validate() throws {
            guard limit >= 0 else { throw ValidationError("--limit must be at least 0") }
            #if Server
                guard (0...65_535).contains(port) else {
                    throw ValidationError("a port is from 0 to 65535, not \(port)")
                }
                guard !serve || !json else {
                    throw ValidationError("--serve and --json exclude each other")
                }
                guard serve || port == 0 else {
                    throw ValidationError("--port needs --serve")
                }
            #endif
        }

        func run() async throws {
            #if Server
                if serve { return try await show() }
            #endif
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

        #if Server
            /// Shows the store in a browser until a signal ends it.
            private func show() async throws {
                let path = store
                // What cannot be opened is said here, not in the browser.
                try StoreOpening.inspecting(at: path).close()
                let stops = StopSignals.stream()
                let console = try await DeviceConsole.start(path, port: port) {
                    try StoreOpening.inspecting(at: path)
                } read: { page, query in
                    let opened = try StoreOpening.inspecting(at: path)
                    defer { opened.close() }
                    return try BlockingCall.run {
                        try await DeviceReader(store: opened, name: path).answer(page, query)
                    }
                }
                try Console.standard.say(
                    "\(path) is shown at \(console.address) (Ctrl-C ends it)")
                for await _ in stops { break }
                try await console.stop()
            }
        #endif
    }
#endif
