/// The terminal: results on standard output, everything else on standard error.
struct Console: Sendable {
    /// The output for results.
    let output: Descriptor
    /// The output for progress, warnings and errors.
    let error: Descriptor

    static let standard = Console(output: .output, error: .error)

    /// Writes a line of the result.
    func say(_ line: String) throws(CommandError) {
        try output.write(Array((line + "\n").utf8))
    }

    /// Writes a line that is not part of the result, without passwords.
    func warn(_ line: String) throws(CommandError) {
        try error.write(Array((HiddenPassword.hidden(in: line) + "\n").utf8))
    }
}
