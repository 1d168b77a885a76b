package import BSONStore
internal import StitchRules

/// An error or a warning about rules, with its place.
package struct RuleFinding: Sendable {
    /// Whether the rules do not load.
    package let isError: Bool
    /// The file's path below the folder of the rules.
    package let file: String
    /// The line, from 1.
    package let line: Int
    /// The column, from 1.
    package let column: Int
    /// The place in the file, such as `roles[0].read`.
    package let path: String
    /// A description for people.
    package let message: String

    init(isError: Bool, file: String, path: String, message: String, in text: [UInt8]) {
        self.isError = isError
        self.file = file
        self.path = path
        self.message = message
        let position = RuleTextPosition(of: path, in: text)
        (line, column) = (position.line, position.column)
    }

    /// The finding on one line, as compilers print theirs.
    package var text: String {
        "\(file):\(line):\(column): \(isError ? "error" : "warning"): "
            + (path.isEmpty ? "" : "\(path): ") + message
    }

    /// The finding as a JSON object.
    package var document: BSONDocument {
        [
            "level": isError ? "error" : "warning", "file": .string(file),
            "line": .int32(Int32(clamping: line)), "column": .int32(Int32(clamping: column)),
            "path": .string(path), "message": .string(message),
        ]
    }
}
