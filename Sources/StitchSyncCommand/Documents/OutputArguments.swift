#if CommandLine
    import ArgumentParser

    /// The options for how a command writes documents.
    struct OutputArguments: ParsableArguments {
        @Flag(help: "Write relaxed Extended JSON.")
        var relaxed = false

        @Flag(help: "Write one field per line; relaxed, unless --json is given.")
        var pretty = false

        @Flag(help: "Write a table with a column for each field.")
        var table = false

        @Flag(help: "Write one JSON array, not one document per line.")
        var json = false

        func validate() throws {
            guard !table || !(pretty || json) else {
                throw ValidationError(
                    "--table excludes --pretty and --json; give one of them")
            }
        }

        /// The writer of documents to standard output.
        var lines: DocumentLines {
            DocumentLines(
                to: Console.standard.output, isRelaxed: relaxed || pretty && !json,
                layout: table ? .table : json ? .array : .lines, isPretty: pretty)
        }
    }
#endif
