#if CommandLine && Server
    import ArgumentParser

    /// A password, which no argument holds: other users of the machine could see it.
    struct PasswordInput: ParsableArguments {
        @Option(
            help: "The file whose first line is the password; without it, standard input.",
            completion: .file())
        var passwordFile: String?

        /// Reads the password.
        func read() throws -> String {
            if let passwordFile { return try ShellPassword.firstLine(of: passwordFile) }
            if Descriptor.input.isTerminal { return try ShellPassword.asked() }
            guard let line = readLine() else {
                throw CommandError(
                    "no password on standard input; write it as the first line, or use "
                        + "--password-file")
            }
            return line
        }
    }
#endif
