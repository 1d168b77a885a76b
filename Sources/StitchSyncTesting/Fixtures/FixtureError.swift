/// An error in a fixture, with its place.
///
/// ```swift
/// do {
///     print(try ConflictFixture.load("fixtures/conflicts").count)
/// } catch {
///     print(error.file, error.path, error.message)
/// }
/// ```
public struct FixtureError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The path of the file; empty for text from another source.
    public let file: String
    /// The place in the file, such as `cases[2].expect.version`.
    public let path: String
    /// The description of the error.
    public let message: String

    init(file: String = "", _ path: String, _ message: String) {
        self.file = file
        self.path = path
        self.message = message
    }

    /// The file, the place and the message.
    public var description: String {
        [file, path, message].filter { !$0.isEmpty }.joined(separator: ": ")
    }

    func inFile(_ file: String) -> FixtureError { FixtureError(file: file, path, message) }
}
