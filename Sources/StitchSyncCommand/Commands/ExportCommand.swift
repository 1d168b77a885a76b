#if CommandLine
    import ArgumentParser
    import BSONStore

    /// The command that exports a collection's documents to a file.
    struct ExportCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "export",
            abstract: "Export documents as Extended JSON, as CSV, or as a BSON dump.",
            discussion: """
                The format is that of mongoexport, canonical unless --relaxed is given; with \
                --bson it is that of mongodump. CSV needs --fields; null and missing values are \
                empty, documents and lists are Extended JSON. All documents of a store file are from one \
                snapshot, even while other processes write.

                Examples:
                  stitchsync export shop.stitch shop.products > products.jsonl
                  stitchsync export stitchsync://localhost:27017 shop.products --out products.jsonl
                  stitchsync export shop.stitch shop.products --out products.bson --bson
                  stitchsync export shop.stitch shop.products --type csv --fields _id,name,size.h \
                      --query '{stock: {$gt: 0}}' --sort '{price: -1}' --limit 10

                Exit code: 0 when everything was written, 1 when the store, the server or the file \
                failed, 64 for a wrong command line.
                """)

        /// The formats that `--type` names.
        enum Format: String, CaseIterable, ExpressibleByArgument {
            case json
            case csv
        }

        @OptionGroup var place: StoreArguments

        @OptionGroup var selection: FilterArguments

        @OptionGroup var signIn: SignInArguments

        @Option(help: "The file to write, or - for standard output.", completion: .file())
        var out = "-"

        @Option(help: "The format of the text.")
        var type = Format.json

        @Option(help: "The fields to write, separated by commas; in JSON also the _id.")
        var fields: String?

        @Option(
            help: "The filter, as the argument.",
            transform: { try ExtendedJSONArgument.document($0) })
        var query: BSONDocument?

        @OptionGroup var sorting: SortArguments

        @Option(help: "The number of documents to skip.")
        var skip = 0

        @Option(help: "The maximum number of documents; 0 for all.")
        var limit = 0

        @Flag(help: "Write one JSON array, not one document per line.")
        var jsonArray = false

        @Flag(help: "Write CSV without the line that names the fields.")
        var noHeaderLine = false

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
            guard query == nil || selection.filter.isEmpty else {
                throw ValidationError("--query and a filter exclude each other; give one of them")
            }
            guard skip >= 0, limit >= 0 else {
                throw ValidationError("--skip and --limit are 0 or more")
            }
            guard type == .json || fields != nil else {
                throw ValidationError("--type csv needs --fields, the columns")
            }
            guard type == .json || !(bson || relaxed || jsonArray) else {
                throw ValidationError(
                    "--type csv excludes --bson, --relaxed and --json-array; leave them out")
            }
            guard type == .csv || !noHeaderLine else {
                throw ValidationError("--no-header-line needs --type csv")
            }
            guard !(bson && jsonArray) else {
                throw ValidationError(
                    "--bson and --json-array exclude each other; give one of them")
            }
            guard !json || out != "-" else {
                throw ValidationError(
                    "--json needs --out, because standard output holds the documents")
            }
        }

        private var filter: BSONDocument { query ?? selection.filter }

        private var names: [String] { fields.map { ColumnOptions.names($0) } ?? [] }

        private var projection: BSONDocument {
            var projection = BSONDocument()
            for name in names { projection.append(name, 1) }
            return projection
        }

        func run() async throws {
            if place.isServer {
                var command: BSONDocument = [
                    "find": .string(place.namespace.collection), "filter": .document(filter),
                    "skip": .int64(Int64(skip)), "limit": .int64(Int64(limit)),
                    "projection": .document(projection),
                ]
                if let sort = sorting.sort { command.append("sort", .document(sort)) }
                let (export, database, request) = (self, place.namespace.database, command)
                try await DocumentSource.run(at: place.store, signIn) { source in
                    try export.write(total: nil) {
                        try source.forEach(request, on: database, $0)
                    }
                }
                return
            }
            try signIn.check(file: place.store)
            let store = try place.open(readOnly: true)
            defer { store.close() }
            let isWhole = filter.isEmpty && skip == 0 && limit == 0
            let total = isWhole ? try store.read { try $0.count(place.namespace) } : nil
            try write(total: total) { body in
                let query = store.collection(place.namespace).find(filter)
                    .sort(sorting.sort ?? [:]).skip(skip).project(projection)
                try (limit == 0 ? query : query.limit(limit)).forEach(body)
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
            let names = names
            if type == .csv, !noHeaderLine {
                try lines.append(Array(RecordLine(names).text.utf8))
            }
            try forEach { document in
                count += 1
                if isWatched { try progress.show(count) }
                if bson { return try lines.append(raw: document.bytes) }
                if type == .csv {
                    return try lines.append(Array(RecordLine(document, names).text.utf8))
                }
                if jsonArray {
                    try lines.append(raw: Array((count == 1 ? "[\n" : ",\n").utf8))
                }
                let text = document.extendedJSONBytes(relaxed ? .relaxed : .canonical)
                if jsonArray { try lines.append(raw: text) } else { try lines.append(text) }
            }
            if jsonArray { try lines.append(raw: Array((count == 0 ? "[]\n" : "\n]\n").utf8)) }
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
