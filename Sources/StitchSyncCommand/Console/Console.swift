/// Speaks to the person at the terminal: results on standard output, the rest on standard error.
struct Console: Sendable {
    /// Where results go.
    let output: Descriptor
    /// Where progress and complaints go.
    let error: Descriptor

    static let standard = Console(output: .output, error: .error)

    /// Writes a line of the result.
    func say(_ line: String) throws(CommandError) {
        try output.write(Array((line + "\n").utf8))
    }

    /// Writes a line that is not part of the result.
    func warn(_ line: String) throws(CommandError) {
        try error.write(Array((line + "\n").utf8))
    }
}
