#if CommandLine
    import ArgumentParser

    /// The options for how a command writes documents.
    struct OutputArguments: ParsableArguments {
        @Flag(help: "Write relaxed Extended JSON, as on a terminal.")
        var relaxed = false

        @Flag(
            help: "Write canonical Extended JSON, which keeps every type, as to a file or a pipe.")
        var canonical = false

        @Flag(help: "Write one field per line; relaxed, unless --json is given.")
        var pretty = false

        @Flag(help: "Write a table with a column for each field.")
        var table = false

        @Flag(help: "Write one JSON array, not one document per line.")
        var json = false

        func validate() throws {
            guard !relaxed || !canonical else {
                throw ValidationError("--relaxed and --canonical exclude each other")
            }
            guard !table || !(pretty || json) else {
                throw ValidationError(
                    "--table excludes --pretty and --json; give one of them")
            }
        }

        /// The writer of documents to standard output.
        var lines: DocumentLines {
            let output = Console.standard.output
            let isRead = pretty && !json || output.isTerminal
            return DocumentLines(
                to: output, isRelaxed: relaxed || isRead && !canonical,
                layout: table ? .table : json ? .array : .lines, isPretty: pretty)
        }
    }
#endif
