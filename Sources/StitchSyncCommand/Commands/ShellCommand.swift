#if CommandLine && Server
    import ArgumentParser

    /// The command that runs scripts in MongoDB's language, or the lines that a person types.
    struct ShellCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "shell",
            abstract: "Run mongosh's commands on a store file or a server.",
            discussion: """
                Lines of standard input are run one after the other; brackets may span lines. The \
                language is mongosh's: db.products.find({stock: {$lt: 5}}).sort({price: -1}), use \
                shop, show collections, it. A store file that does not exist is created. \
                Docs/SHELL.md lists the differences from mongosh.

                Examples:
                  stitchsync shell shop.stitch
                  stitchsync shell shop.stitch --eval 'db.products.countDocuments()'
                  stitchsync shell shop.stitch report.js
                  echo 'show dbs' | stitchsync shell stitchsync://localhost:27017

                Exit code: 0, 1 when a script or a line of standard input failed, the number of \
                quit(number), 64 for a wrong command line.
                """)

        @Argument(
            help: """
                The store's file, or a server, stitchsync://… or mongodb://…; without it, the \
                server of --host and --port.
                """, completion: .file())
        var place: String?

        @Argument(help: "Scripts to run instead of standard input.", completion: .file())
        var scripts: [String] = []

        @Option(help: "JavaScript to run; may be given more than once, and before the scripts.")
        var eval: [String] = []

        @Option(
            name: .shortAndLong, help: "A script to run, as the arguments after the place.",
            completion: .file())
        var file: [String] = []

        @Option(help: "The database of the beginning.")
        var database: String?

        @OptionGroup var signIn: SignInArguments

        @OptionGroup(title: "Options that mongosh has") var names: MongoshArguments

        @Flag(
            help: """
                Write results as relaxed Extended JSON; --json=canonical and --json=relaxed name \
                the form.
                """)
        var json = false

        @Flag(help: "Write results as canonical Extended JSON.")
        var canonical = false

        @Flag(help: "Write documents as a table with a column for each field.")
        var table = false

        @OptionGroup var colours: ColourArguments

        @Flag(help: "No colors, as --color never.")
        var noColor = false

        @Flag(help: "Do not greet.")
        var quiet = false

        @Flag(help: "Read lines after --eval and the scripts.")
        var shell = false

        func validate() throws {
            guard !table || !(json || canonical) else {
                throw ValidationError("--table excludes --json and --canonical; give one of them")
            }
        }

        func run() async throws {
            var (place, scripts) = (place, file + scripts)
            if let first = place, MongoshArguments.isScript(first) {
                scripts.insert(first, at: file.count)
                place = nil
            }
            let server = try names.address(place)
            let signIn = signIn
            let opening = try ServerOpening(server, signIn, creates: true)
            let run = ShellRun(
                steps: eval.map { .text($0) } + scripts.map { .file($0) },
                database: database ?? opening.database ?? "test",
                format: canonical ? .canonical : json ? .relaxed : table ? .table : .shell,
                style: TextStyle(noColor ? .never : colours.color, on: .output), isQuiet: quiet,
                continues: shell,
                connectTo: { uri in
                    let opening = try ServerOpening(uri, signIn, creates: true)
                    return (try opening.connect(), opening.database)
                })
            let code = try await run(opening.connect)
            guard code == 0 else { throw ExitCode(code) }
        }
    }
#endif
