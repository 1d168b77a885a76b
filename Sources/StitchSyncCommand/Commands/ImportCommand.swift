#if CommandLine
    import ArgumentParser
    import BSONStore

    /// The command that imports documents from a file or dump.
    struct ImportCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "import",
            abstract: "Import documents from a file of Extended JSON, or from a BSON dump.",
            discussion: """
                The file has the format of mongoexport, one document per line or a list, canonical \
                or relaxed; - is standard input. A file named .bson, and any file with --bson, is \
                a dump in the format of mongodump, without indexes. The file is read in parts, so \
                it may be larger than memory. A rejected document is reported with its line or \
                number and the reason, and the rest is imported; with --strict nothing is \
                imported. A document without an _id is given one, an ObjectId; imported again, it \
                is another document.

                Examples:
                  stitchsync import shop.stitch shop.products products.jsonl
                  stitchsync import shop.stitch shop.products dump/shop/products.bson --strict

                Exit code: 0 when everything was imported, 1 when a document was rejected or the \
                import failed, 64 for a wrong command line.
                """)

        @OptionGroup var place: StoreArguments

        @Argument(help: "The file to import, or - for standard input.", completion: .file())
        var file: String

        @Flag(help: "Read BSON, as `export --bson` and mongodump write it.")
        var bson = false

        @Flag(help: "Import everything or nothing.")
        var strict = false

        @Option(help: "The maximum number of rejected documents to name; 0 for all.")
        var errors = 20

        @Flag(help: "Write one JSON object.")
        var json = false

        private var isDump: Bool { bson || file.hasByteSuffix(".bson") }

        func validate() throws {
            guard errors >= 0 else { throw ValidationError("--errors is 0 or more") }
        }

        func run() async throws {
            let console = Console.standard
            let descriptor = try Descriptor.reading(file)
            defer { descriptor.close() }
            let store = try place.open()
            defer { store.close() }
            let importer = Importer(
                descriptor, name: file, isDump: isDump, into: place.namespace, console: console,
                faultsShownMax: errors == 0 ? .max : errors)
            let tally =
                strict
                ? try importer.importAllOrNothing(into: store)
                : try importer.importValid(into: store)
            let object: BSONDocument = [
                "imported": .int64(Int64(tally.imported)),
                "rejected": .int64(Int64(tally.rejected)),
            ]
            try console.say(
                json
                    ? object.extendedJSON(.relaxed)
                    : "\(tally.imported.counted("document")) imported into \(place.namespace), "
                        + "\(tally.rejected.counted(isDump ? "document" : "line")) rejected")
            guard tally.rejected == 0 else { throw ExitCode.failure }
        }
    }
#endif
