#if CommandLine
    import BSONStore
    import class Foundation.Thread

    /// What a shell does before it ends.
    struct ShellRun: Sendable {
        /// A text of JavaScript and how it is run.
        enum Step: Sendable {
            /// The argument of `--eval`, whose result is shown if it is the last one.
            case text(String)
            /// A file.
            case file(String)
        }

        /// The scripts; without one, the lines of standard input.
        let steps: [Step]
        /// The database of the beginning.
        let database: String
        /// The way in which results are written.
        let format: ShellFormat
        /// The colors of results on standard output.
        var style = TextStyle(.never, on: .output)
        /// Whether greetings are left out.
        let isQuiet: Bool
        /// Whether the lines of standard input follow the scripts.
        var continues = false
        /// Opens a further connection of a script.
        var connectTo: @Sendable (String) throws -> (any ShellServer, database: String?) = { _ in
            throw CommandError("there is no other connection here")
        }

        /// The place of a shell without a server.
        static let noPlace = ":memory:"

        /// The size of the thread's stack, for scripts that call themselves.
        private static let stackBytes = 256 << 20
        /// The part of it that the calls of scripts may use.
        private static let stackBytesMax = 224 << 20

        /// Runs the shell on a thread of its own and returns the exit code.
        func callAsFunction(
            _ connect: @escaping @Sendable () throws -> any ShellServer
        ) async throws -> Int32 {
            try await withCheckedThrowingContinuation { continuation in
                let thread = Thread {
                    continuation.resume(with: Result { try run(connect) })
                }
                thread.stackSize = Self.stackBytes
                thread.start()
            }
        }

        private func run(_ connect: () throws -> any ShellServer) throws -> Int32 {
            let server = try connect()
            defer { server.close() }
            let shell = try Shell(
                server, database: database, format: format, stackBytesMax: Self.stackBytesMax,
                style: style, connect: connectTo)
            guard !steps.isEmpty else { return try runLines(shell) }
            for (index, step) in steps.enumerated() {
                let isDone =
                    switch step {
                    case .text(let text):
                        try shell.runScript(text, showsResult: index == steps.count - 1)
                    case .file(let path):
                        try shell.runFile(path)
                    }
                if let code = shell.exitCode { return code }
                guard isDone else { return 1 }
            }
            return continues ? try runLines(shell) : 0
        }

        private func runLines(_ shell: Shell) throws -> Int32 {
            let isTerminal = Descriptor.input.isTerminal && Descriptor.output.isTerminal
            if isTerminal, !isQuiet {
                try Console.standard.say(
                    "\(shell.server.place), database \(database); `help` lists commands")
            }
            if isTerminal, LineEditor.isPossible {
                var terminal = try ShellTerminal(shell)
                return try terminal.run()
            }
            var statement = ShellStatement()
            var code: Int32 = 0
            while true {
                if isTerminal {
                    let prompt = statement.isEmpty ? "\(shell.database)> " : "... "
                    try Console.standard.output.write(Array(prompt.utf8))
                }
                guard let line = readLine() else { break }
                statement.append(line)
                guard statement.isComplete else { continue }
                let isDone = try shell.enter(statement.text)
                if !isDone, !isTerminal { code = 1 }
                statement = ShellStatement()
                if let code = shell.exitCode { return code }
            }
            if !statement.isEmpty, try !shell.enter(statement.text) { code = 1 }
            return shell.exitCode ?? code
        }
    }
#endif
