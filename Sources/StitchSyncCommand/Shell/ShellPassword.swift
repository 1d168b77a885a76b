#if CommandLine
    #if canImport(Darwin)
        import Darwin
    #else
        import Glibc
    #endif

    /// The password of a shell's user, which no argument holds.
    enum ShellPassword {
        private static let variable = "STITCHSYNC_PASSWORD"

        /// Returns the first line of a file, else the value of the variable, else what a person
        /// types.
        static func read(file: String?) throws -> String {
            if let file { return try firstLine(of: file) }
            if let value = getenv(variable) { return String(cString: value) }
            guard Descriptor.input.isTerminal else {
                throw CommandError("no password; use --password-file or \(variable)")
            }
            return try asked()
        }

        /// Returns the first line of a file.
        static func firstLine(of file: String) throws -> String {
            let line = try Shell.script(at: file).split(
                separator: "\n", omittingEmptySubsequences: false
            ).first
            guard let line, !line.isEmpty else {
                throw CommandError("\(file): the first line holds no password")
            }
            return String(line)
        }

        /// Asks at the terminal, which does not show the answer.
        static func asked() throws -> String {
            var settings = termios()
            guard tcgetattr(0, &settings) == 0 else {
                throw CommandError("the terminal cannot hide a password; use --password-file")
            }
            let before = settings
            settings.c_lflag &= ~tcflag_t(ECHO)
            tcsetattr(0, TCSAFLUSH, &settings)
            defer {
                var before = before
                tcsetattr(0, TCSAFLUSH, &before)
            }
            try Console.standard.error.write(Array("Enter password: ".utf8))
            let line = readLine()
            try Console.standard.error.write(Array("\n".utf8))
            guard let line else { throw CommandError("no password was entered") }
            return line
        }
    }
#endif
