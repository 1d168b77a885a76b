/// What a person can write instead of a line of another shell.
enum ShellHint {
    /// The first words of lines that other shells know, and what does the same here.
    private static let table: [(words: [String], advice: String)] = [
        ([".tables", "ls", "dir", ".schema", "\\dt"], "`show collections`"),
        ([".databases", "\\l"], "`show dbs`"),
        ([".quit", ".exit", "\\q"], "`exit`"),
        ([".help", "\\?"], "`help`"),
        (["select"], "`db.NAME.find({field: value})`"),
        (["insert"], "`db.NAME.insertOne({field: value})`"),
        (["update"], "`db.NAME.updateOne({_id: 1}, {$set: {field: value}})`"),
        (["delete"], "`db.NAME.deleteOne({_id: 1})`"),
    ]

    /// Returns the advice for a line that failed; `nil` if there is none.
    static func hint(for text: String) -> String? {
        let first = text.split { $0.isWhitespace || $0 == ";" }.first?.lowercased()
        guard let first else { return nil }
        return table.first { $0.words.contains(first) }.map { "Hint: try \($0.advice)" }
    }
}
