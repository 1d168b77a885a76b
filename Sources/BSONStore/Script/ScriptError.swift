package import BSONQuery

/// An error that a script throws, or a native function for a script.
package struct ScriptError: Error {
    /// The kind of error, such as `TypeError`.
    package let name: String
    package let message: String
    /// Further properties, such as `code`.
    package let fields: BSONDocument
    /// The line and the column of the statement, from 1 on; `nil` if unknown.
    package let line: Int?
    package let column: Int?

    package init(
        _ name: String, _ message: String, fields: BSONDocument = [:], line: Int? = nil,
        column: Int? = nil
    ) {
        self.name = name
        self.message = message
        self.fields = fields
        self.line = line
        self.column = column
    }

    /// The error as a line of text.
    package var text: String {
        let place = line.map { " (\($0):\(column ?? 1))" } ?? ""
        return (message.isEmpty ? name : "\(name): \(message)") + place
    }
}
