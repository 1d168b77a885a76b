#if CommandLine
    import BSONStore

    /// A shell at a terminal, which reads statements with keys that edit them.
    struct ShellTerminal {
        private let shell: Shell
        private let editor: LineEditor
        private let interrupts = InterruptSignals()
        private var history: LineHistory

        /// Reads the history of the person.
        ///
        /// - Throws: `CommandError` if it cannot be read, or the terminal cannot be used.
        init(_ shell: Shell) throws(CommandError) {
            self.shell = shell
            editor = try LineEditor(complete: shell.completion.callAsFunction)
            history = try LineHistory(at: LineHistory.usualPath)
        }

        /// Runs statements until the person ends the shell, and returns the exit code.
        mutating func run() throws -> Int32 {
            var statement = ShellStatement()
            while true {
                let prompt = statement.isEmpty ? "\(shell.database)> " : "... "
                switch try editor.read(prompt: prompt, history.lines) {
                case .end: return 0
                case .interrupted:
                    statement = ShellStatement()
                    continue
                case .line(let line): statement.append(line)
                }
                guard statement.isComplete else { continue }
                try remember(statement.text)
                _ = try interrupts.stopping { try shell.enter(statement.text) }
                statement = ShellStatement()
                if let code = shell.exitCode { return code }
            }
        }

        private mutating func remember(_ text: String) throws(CommandError) {
            do {
                try history.add(text)
            } catch {
                try Console.standard.warn("\(error); the history ends here")
                history = try LineHistory(at: nil)
            }
        }
    }
#endif
