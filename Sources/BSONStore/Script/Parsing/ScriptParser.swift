import BSONQuery

/// A parser for the text of a script.
///
/// It supports the part of ECMAScript in which filters are written: functions, arrow functions,
/// `var`, `let` and `const`, all statements except labels, classes and generators, and all
/// operators.
struct ScriptParser {
    /// The maximum depth of expressions, statements and functions.
    static let depthMax = 100
    /// The maximum length of a chain of operators, accesses or calls.
    static let lengthMax = 2_000
    static let keywords: Set<String> = [
        "break", "case", "catch", "class", "const", "continue", "debugger", "default", "delete",
        "do",
        "else", "export", "extends", "false", "finally", "for", "function", "if", "import", "in",
        "instanceof", "new", "null", "return", "super", "switch", "this", "throw", "true", "try",
        "typeof", "var", "void", "while", "with", "yield",
    ]

    private var lexer: ScriptLexer
    /// The lexer as it was before the token.
    private var before: ScriptLexer
    var token = ScriptToken.end
    var depth = 0

    init(_ text: String) throws(StoreError) {
        lexer = ScriptLexer(text)
        before = lexer
        try advance()
    }

    /// Parses a whole text: a function, or statements of which the last may be a value.
    ///
    /// MongoDB's shell turns a text into a function in the same way: a value at the end is its
    /// result.
    ///
    /// - Throws: 139 for an invalid script.
    static func parse(_ text: String) throws(StoreError) -> ScriptFunction {
        var parser = try ScriptParser(text)
        var statements: [ScriptStatement] = []
        while parser.token != .end {
            if parser.isWord("function"), parser.isNameless {
                // A function without a name cannot be called from elsewhere: it is the value.
                statements.append(.expression(try parser.expression()))
                try parser.endStatement()
            } else {
                statements.append(try parser.statement())
            }
        }
        switch statements.last {
        case .function(let function) where statements.count == 1: return function
        case .expression(.function(let function)) where statements.count == 1: return function
        case .expression(let value):
            statements[statements.count - 1] = .return(value)
        default: break
        }
        return ScriptFunction(name: nil, parameters: [], body: statements)
    }

    // MARK: Tokens

    mutating func advance() throws(StoreError) {
        before = lexer
        token = try lexer.next(allowsPattern: false)
    }

    /// Reads the token again as a regular expression that begins with a slash.
    mutating func readPattern() throws(StoreError) {
        lexer = before
        token = try lexer.next(allowsPattern: true)
    }

    /// Whether a line ended before the token.
    var isAfterLineEnd: Bool { lexer.isAfterLineEnd }

    func isMark(_ mark: String) -> Bool { token == .mark(mark) }

    func isWord(_ word: String) -> Bool { token == .name(word) }

    /// Whether the function that begins here has no name.
    private var isNameless: Bool {
        var rest = lexer
        do throws(StoreError) {
            return try rest.next(allowsPattern: false) == .mark("(")
        } catch {
            return false
        }
    }

    mutating func take(_ mark: String) throws(StoreError) -> Bool {
        guard isMark(mark) else { return false }
        try advance()
        return true
    }

    mutating func takeWord(_ word: String) throws(StoreError) -> Bool {
        guard isWord(word) else { return false }
        try advance()
        return true
    }

    mutating func expect(_ mark: String) throws(StoreError) {
        guard try take(mark) else { throw unexpected("expected \(mark)") }
    }

    func unexpected(_ hint: String? = nil) -> StoreError {
        let found =
            switch token {
            case .end: "end of script"
            case .name(let name) where Self.keywords.contains(name): "keyword '\(name)'"
            case .name: "identifier"
            case .number: "numeric literal"
            case .string: "string literal"
            case .template: "template string"
            case .pattern: "regular expression literal"
            case .mark(let mark): "token: '\(mark)'"
            }
        return ScriptLexer.illegal((hint.map { $0 + ", got " } ?? "unexpected ") + found)
    }

    /// Reads a name other than a keyword.
    mutating func name() throws(StoreError) -> String {
        guard case .name(let name) = token, !Self.keywords.contains(name) else {
            throw unexpected("missing name")
        }
        try advance()
        return name
    }

    /// Runs a body one level deeper.
    mutating func deeper<R>(
        _ body: (inout ScriptParser) throws(StoreError) -> R
    ) throws(StoreError) -> R {
        guard depth < Self.depthMax else { throw ScriptLexer.illegal("too much nesting") }
        depth += 1
        defer { depth -= 1 }
        return try body(&self)
    }

    /// Tries to parse, and restores the position on failure.
    mutating func attempt<R>(
        _ body: (inout ScriptParser) throws(StoreError) -> R?
    ) -> R? {
        let start = self
        do throws(StoreError) {
            if let found = try body(&self) { return found }
        } catch {
            // The text is then parsed as something else, which reports the error.
        }
        self = start
        return nil
    }
}

// MARK: - Functions

extension ScriptParser {
    /// Reads the rest of a function behind the word `function`.
    mutating func function() throws(StoreError) -> ScriptFunction {
        try deeper { (parser) throws(StoreError) in
            let name = parser.isMark("(") ? nil : try parser.name()
            try parser.expect("(")
            let parameters = try parser.parameters()
            return ScriptFunction(
                name: name, parameters: parameters, body: try parser.block())
        }
    }

    /// Reads names up to a closing parenthesis.
    private mutating func parameters() throws(StoreError) -> [String] {
        var names: [String] = []
        while try !take(")") {
            if !names.isEmpty { try expect(",") }
            names.append(try name())
        }
        return names
    }

    /// Reads an arrow function if one begins here.
    mutating func arrow() throws(StoreError) -> ScriptExpression? {
        let parameters = attempt { (parser) throws(StoreError) -> [String]? in
            var names: [String] = []
            if try parser.take("(") {
                names = try parser.parameters()
            } else {
                names = [try parser.name()]
            }
            return try parser.take("=>") ? names : nil
        }
        guard let parameters else { return nil }
        return try deeper { (parser) throws(StoreError) in
            let body: [ScriptStatement] =
                parser.isMark("{")
                ? try parser.block() : [.return(try parser.assignment())]
            return .function(
                ScriptFunction(name: nil, parameters: parameters, body: body, isArrow: true))
        }
    }
}
