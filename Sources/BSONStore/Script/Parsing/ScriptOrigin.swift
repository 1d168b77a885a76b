import BSONQuery

/// The text that statements were read from.
final class ScriptOrigin: Sendable {
    private let lexer: ScriptLexer

    init(_ lexer: ScriptLexer) { self.lexer = lexer }

    /// Returns the line and the column of a place, both from 1 on.
    func place(_ offset: Int) -> (line: Int, column: Int) { lexer.place(offset) }
}
