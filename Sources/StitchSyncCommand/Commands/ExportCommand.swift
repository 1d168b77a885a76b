#if CommandLine
    import ArgumentParser
    import BSONStore

    /// Writes a collection's documents to a file.
    struct ExportCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "export",
            abstract: "Export documents as Extended JSON, one a line, or as a BSON dump.",
            discussion: """
                The form is that of mongoexport, canonical unless --relaxed is said; with --bson that \
                of mongodump: documents one after another. All documents are of one state of the store, \
                whoever writes meanwhile.

                Examples:
                  stitchsync export shop.stitch shop.products > products.jsonl
                  stitchsync export shop.stitch shop.products --out products.bson --bson

                Exit code: 0 when all was written, 1 when the store or the file failed, 64 for a wrong \
                command line.
                """)

        @OptionGroup var place: StoreArguments

        @Argument(
            help: "The filter; all documents without one.",
            transform: { try BSONDocument(extendedJSON: $0) })
        var filter: BSONDocument = [:]

        @Option(help: "The file to write, or - for standard output.", completion: .file())
        var out = "-"

        @Flag(help: "Write BSON.")
        var bson = false

        @Flag(help: "Write relaxed Extended JSON.")
        var relaxed = false

        func validate() throws {
            guard !(bson && relaxed) else {
                throw ValidationError("--bson and --relaxed do not go together")
            }
        }

        func run() async throws {
            let store = try place.open(readOnly: true)
            defer { store.close() }
            let descriptor = out == "-" ? Descriptor.output : try Descriptor.writing(out)
            defer { descriptor.close() }
            var count = 0
            var lines = BufferedLines(to: descriptor)
            try store.collection(place.namespace).forEach(filter) { document in
                count += 1
                if bson {
                    try lines.append(raw: document.bytes)
                } else {
                    try lines.append(document.extendedJSONBytes(relaxed ? .relaxed : .canonical))
                }
            }
            try lines.flush()
            if out != "-" { try Console.standard.say("\(count) documents exported to \(out)") }
        }
    }
#endif
