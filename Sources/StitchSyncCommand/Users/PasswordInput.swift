#if CommandLine && Server
    import ArgumentParser
    import Foundation

    /// A password, which no argument holds: other users of the machine could see it.
    struct PasswordInput: ParsableArguments {
        @Option(
            help: "The file whose first line is the password; without it, standard input.",
            completion: .file())
        var passwordFile: String?

        /// Reads the password.
        func read() throws -> String {
            guard let passwordFile else {
                guard let line = readLine() else {
                    throw CommandError("no password on standard input; write it as the first line")
                }
                return line
            }
            let text = try String(contentsOfFile: passwordFile, encoding: .utf8)
            guard let line = text.split(separator: "\n", omittingEmptySubsequences: false).first,
                !line.isEmpty
            else { throw CommandError("\(passwordFile): the first line holds no password") }
            return String(line)
        }
    }
#endif
