/// Says what is wrong with a fixture, and where.
public struct FixtureError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The file; empty for text that was not read from one.
    public let file: String
    /// The place in the file, such as `cases[2].expect.version`.
    public let path: String
    /// What is wrong.
    public let message: String

    init(file: String = "", _ path: String, _ message: String) {
        self.file = file
        self.path = path
        self.message = message
    }

    /// The file, the place and the sentence.
    public var description: String {
        [file, path, message].filter { !$0.isEmpty }.joined(separator: ": ")
    }

    func inFile(_ file: String) -> FixtureError { FixtureError(file: file, path, message) }
}
