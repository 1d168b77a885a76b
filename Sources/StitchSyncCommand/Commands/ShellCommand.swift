#if CommandLine && Server
    import ArgumentParser
    import StitchRemote

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
            help: "The store's file, or a server, stitchsync://… or mongodb://….",
            completion: .file())
        var place: String

        @Argument(help: "Scripts to run instead of standard input.", completion: .file())
        var scripts: [String] = []

        @Option(help: "JavaScript to run; may be given more than once, and before the scripts.")
        var eval: [String] = []

        @Option(help: "The database of the beginning.")
        var database: String?

        @Option(help: "The user of a server, if the URI names none.")
        var user: String?

        @Option(
            help: """
                The file whose first line is the user's password; without it, the variable \
                STITCHSYNC_PASSWORD, or the terminal.
                """, completion: .file())
        var passwordFile: String?

        @Flag(help: "Write results as relaxed Extended JSON.")
        var json = false

        @Flag(help: "Write results as canonical Extended JSON.")
        var canonical = false

        @Flag(help: "Do not greet.")
        var quiet = false

        func run() async throws {
            let place = place
            if SessionRemote.isServer(place) {
                #if Remote
                    let signIn =
                        try user.map {
                            try SignIn.user($0, password: ShellPassword.read(file: passwordFile))
                        } ?? SignIn.none
                    let remote = try ServerRemote(place, signIn: signIn)
                    let database = database ?? remote.namedDatabase ?? "test"
                    return try await run(on: database) {
                        try RemoteShellServer(remote, place: place)
                    }
                #else
                    throw SessionRemote.lacksServers
                #endif
            }
            try await run(on: database ?? "test") { try FileShellServer(place) }
        }

        private func run(
            on database: String, _ connect: @escaping @Sendable () throws -> any ShellServer
        ) async throws {
            let run = ShellRun(
                steps: eval.map { .text($0) } + scripts.map { .file($0) }, database: database,
                format: canonical ? .canonical : json ? .relaxed : .shell, isQuiet: quiet)
            let code = try await run(connect)
            guard code == 0 else { throw ExitCode(code) }
        }
    }
#endif
