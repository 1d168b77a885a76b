/// Holds one text file of the repository as the rules see it.
struct SourceFile: Sendable {
    /// The path from the repository's root, with `/`.
    let path: String
    /// The whole text.
    let text: String
    /// The text by lines, without line ends.
    let lines: [Substring]
    /// The tokens of Swift code, without comments and what string literals say; empty for others.
    let tokens: [SwiftToken]

    init(_ path: String, _ text: String) {
        self.path = path
        self.text = text
        lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        tokens = path.hasSuffix(".swift") ? SwiftToken.tokens(of: text) : []
    }

    /// Whether it is Swift source.
    var isSwift: Bool { path.hasSuffix(".swift") }

    /// Whether it is a document for people.
    var isMarkdown: Bool { path.hasSuffix(".md") }

    /// Whether it lies in one of the folders, or is one of the files.
    func isIn(_ places: [String]) -> Bool {
        places.contains { $0.hasSuffix("/") ? path.hasPrefix($0) : path == $0 }
    }
}
