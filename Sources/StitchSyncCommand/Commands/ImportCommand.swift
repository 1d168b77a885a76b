#if CommandLine
    import ArgumentParser
    import BSONStore

    extension ImportWrite.Mode: ExpressibleByArgument {}

    /// The command that imports documents from a file or dump.
    struct ImportCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "import",
            abstract: "Import documents from Extended JSON, CSV, TSV, or a BSON dump.",
            discussion: """
                Extended JSON has the format of mongoexport, one document per line or a list, \
                canonical or relaxed; - is standard input. A dump is one of mongodump, without \
                indexes. Of CSV and TSV name the columns by --headerline or --fields; a.b is a \
                field of an embedded document. Without types, numbers are read as numbers and all \
                else as strings. The file is read in parts, so it may be larger than memory.

                A rejected document is reported with its line and the reason, and the rest is \
                imported; with --strict nothing is imported. A document without an _id is given \
                one, an ObjectId; imported again, it is another document. In a synced collection \
                of a file the documents are pending changes, which the next sync sends.

                Examples:
                  stitchsync import shop.stitch shop.products products.jsonl
                  stitchsync import shop.stitch shop.products dump/shop/products.bson --strict
                  stitchsync import stitchsync://localhost:27017 shop.products products.csv \\
                      --headerline --mode upsert
                  stitchsync import shop.stitch shop.sales sales.csv --columns-have-types \\
                      --fields 'item.string(),count.int32(),at.date(2006-01-02)'

                Exit code: 0 when everything was imported, 1 when a document was rejected or the \
                import failed, 64 for a wrong command line.
                """)

        /// The formats that `--type` names.
        enum Format: String, CaseIterable, ExpressibleByArgument {
            case json
            case csv
            case tsv
            case bson
        }

        @OptionGroup var place: StoreArguments

        @Argument(help: "The file to import, or - for standard input.", completion: .file())
        var file: String

        @Option(help: "The format; without it the file's name decides, and json is the default.")
        var type: Format?

        @Flag(help: "Read BSON, as `export --bson` and mongodump write it.")
        var bson = false

        @Flag(help: "Take the columns' names from the first line of CSV or TSV.")
        var headerline = false

        @Option(help: "The columns' names, separated by commas.")
        var fields: String?

        @Flag(
            help: "The columns' names end in types: name.string(),age.int32(),at.date(2006-01-02).")
        var columnsHaveTypes = false

        @Flag(help: "Leave out the empty values of CSV and TSV.")
        var ignoreBlanks = false

        @Flag(help: "Drop the collection first.")
        var drop = false

        @Option(help: "What to do with a document that exists.")
        var mode = ImportWrite.Mode.insert

        @Option(
            help: "The fields that find the existing document, separated by commas. (default: _id)")
        var upsertFields: String?

        @Flag(help: "Import everything or nothing.")
        var strict = false

        @Flag(help: "Stop at the first rejected document.")
        var stopOnError = false

        @Option(help: "The maximum number of rejected documents to name; 0 for all.")
        var errors = 20

        @OptionGroup var signIn: SignInArguments

        @Flag(help: "Write one JSON object.")
        var json = false

        private var format: Format {
            if let type { return type }
            if bson || file.hasByteSuffix(".bson") { return .bson }
            if file.hasByteSuffix(".csv") { return .csv }
            return file.hasByteSuffix(".tsv") ? .tsv : .json
        }

        private var importFormat: ImportFormat {
            let columns = ColumnOptions(
                fields: fields.map { ColumnOptions.names($0) }, hasHeaderLine: headerline,
                haveTypes: columnsHaveTypes, ignoresBlanks: ignoreBlanks)
            return switch format {
            case .json: .json
            case .csv: .csv(columns)
            case .tsv: .tsv(columns)
            case .bson: .bson
            }
        }

        func validate() throws {
            guard errors >= 0 else { throw ValidationError("--errors is 0 or more") }
            guard !bson || type == nil || type == .bson else {
                throw ValidationError("--bson and --type exclude each other; give one of them")
            }
            let isTable = format == .csv || format == .tsv
            guard !isTable || headerline != (fields != nil) else {
                throw ValidationError(
                    "\(format.rawValue) needs the columns' names: give --headerline if the first "
                        + "line has them, or else --fields")
            }
            guard isTable || !(headerline || fields != nil || columnsHaveTypes || ignoreBlanks)
            else {
                throw ValidationError(
                    "--headerline, --fields, --columns-have-types and --ignore-blanks need "
                        + "--type csv or tsv")
            }
            guard upsertFields == nil || mode != .insert else {
                throw ValidationError("--upsert-fields needs --mode upsert, merge or delete")
            }
            guard !strict || !place.isServer && mode == .insert && !drop else {
                throw ValidationError(
                    "--strict needs a store file, --mode insert and no --drop: only a file "
                        + "takes everything or nothing")
            }
        }

        func run() async throws {
            if !place.isServer { try signIn.check(file: place.store) }
            let descriptor = try Descriptor.reading(file)
            defer { descriptor.close() }
            let importer = Importer(
                descriptor, name: file, format: importFormat, into: place.namespace,
                console: .standard, faultsShownMax: errors == 0 ? .max : errors,
                stopsOnError: stopOnError)
            if try place.isServer || mode != .insert || drop || isSynced() {
                try await importByCommands(importer)
            } else {
                let store = try place.open()
                defer { store.close() }
                try report(
                    strict
                        ? importer.importAllOrNothing(into: store)
                        : importer.importValid(into: store), isPending: false)
            }
        }

        /// Whether the collection of the file is synced, so that an engine must write.
        private func isSynced() throws -> Bool {
            let store = try place.open()
            defer { store.close() }
            return try store.read { try $0.isSynced(place.namespace) }
        }

        private func importByCommands(_ importer: Importer) async throws {
            let namespace = place.namespace
            let write = ImportWrite(
                mode: mode, keys: upsertFields.map { ColumnOptions.names($0) } ?? ["_id"])
            let (drops, isStrict) = (drop, strict)
            let (tally, isPending) = try await DocumentSource.run(
                at: place.store, signIn, creates: true
            ) { source in
                let isSynced = try source.isSynced(namespace)
                guard !(isSynced && isStrict) else {
                    throw CommandError(
                        "\(namespace) is synced, and --strict needs a collection that is not; "
                            + "leave it out")
                }
                if drops {
                    try source.checkIsFree(namespace, to: "drop it")
                    _ = try source.run(
                        ["drop": .string(namespace.collection)], on: namespace.database)
                }
                let tally = try importer.importValid { batch, isOrdered in
                    try write.run(&batch, namespace, source, isOrdered: isOrdered)
                }
                return (tally, isSynced)
            }
            try report(tally, isPending: isPending && tally.imported > 0)
        }

        private func report(_ tally: Importer.Tally, isPending: Bool) throws {
            let console = Console.standard
            let isDelete = mode == .delete
            var object: BSONDocument = [
                isDelete ? "deleted" : "imported": .int64(Int64(tally.imported)),
                "rejected": .int64(Int64(tally.rejected)),
            ]
            if isPending { object.append("pending", true) }
            try console.say(
                json
                    ? object.extendedJSON(.relaxed)
                    : "\(tally.imported.counted("document")) "
                        + "\(isDelete ? "deleted from" : "imported into") \(place.namespace), "
                        + "\(tally.rejected.counted(format == .bson ? "document" : "line")) rejected"
            )
            if isPending, !json { try console.say("pending: they are sent with the next sync") }
            guard tally.rejected == 0 else { throw ExitCode.failure }
        }
    }
#endif
