#if CommandLine
    import ArgumentParser
    import BSONStore

    /// The command that exports a collection's documents to a file.
    struct ExportCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "export",
            abstract: "Export documents as Extended JSON, one per line, or as a BSON dump.",
            discussion: """
                The format is that of mongoexport, canonical unless --relaxed is given; with \
                --bson it is that of mongodump. All documents of a store file are from one \
                snapshot, even while other processes write.

                Examples:
                  stitchsync export shop.stitch shop.products > products.jsonl
                  stitchsync export stitchsync://localhost:27017 shop.products --out products.jsonl
                  stitchsync export shop.stitch shop.products --out products.bson --bson

                Exit code: 0 when everything was written, 1 when the store, the server or the file \
                failed, 64 for a wrong command line.
                """)

        @OptionGroup var place: StoreArguments

        @OptionGroup var selection: FilterArguments

        @OptionGroup var signIn: SignInArguments

        @Option(help: "The file to write, or - for standard output.", completion: .file())
        var out = "-"

        @Flag(help: "Write BSON.")
        var bson = false

        @Flag(help: "Write relaxed Extended JSON.")
        var relaxed = false

        @Flag(help: "Write one JSON object about the export; needs --out.")
        var json = false

        func validate() throws {
            guard !(bson && relaxed) else {
                throw ValidationError("--bson and --relaxed exclude each other; give one of them")
            }
            guard !json || out != "-" else {
                throw ValidationError(
                    "--json needs --out, because standard output holds the documents")
            }
        }

        func run() async throws {
            if place.isServer {
                let command: BSONDocument = [
                    "find": .string(place.namespace.collection),
                    "filter": .document(selection.filter),
                ]
                let (export, database) = (self, place.namespace.database)
                try await DocumentSource.run(at: place.store, signIn) { source in
                    try export.write(total: nil) {
                        try source.forEach(command, on: database, $0)
                    }
                }
                return
            }
            let store = try place.open(readOnly: true)
            defer { store.close() }
            let total =
                selection.filter.isEmpty
                ? try store.read { try $0.count(place.namespace) } : nil
            try write(total: total) { body in
                try store.collection(place.namespace).find(selection.filter).forEach(body)
            }
        }

        /// Writes the documents that a body visits.
        private func write(
            total: Int?, _ forEach: ((BSONDocument) throws -> Void) throws -> Void
        ) throws {
            let file = try OutputFile(out, sparing: place.store)
            var count = 0
            // Standard output carries the documents; on a terminal they show the progress
            // themselves.
            var progress = ProgressBar(
                "exporting \(place.namespace)", unit: "documents", total: total,
                isForPeople: true)
            let isWatched = out != "-" || !Descriptor.output.isTerminal
            var lines = BufferedLines(to: file.descriptor)
            try forEach { document in
                count += 1
                if isWatched { try progress.show(count) }
                if bson {
                    try lines.append(raw: document.bytes)
                } else {
                    try lines.append(document.extendedJSONBytes(relaxed ? .relaxed : .canonical))
                }
            }
            try lines.flush()
            try file.keep()
            if isWatched { try progress.finish() }
            guard out != "-" else { return }
            let object: BSONDocument = ["exported": .int64(Int64(count)), "file": .string(out)]
            try Console.standard.say(
                json
                    ? object.extendedJSON(.relaxed)
                    : "\(count.counted("document")) exported to \(out)")
        }
    }
#endif
