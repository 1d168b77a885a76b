import BSONQuery

/// A parser for the text of a script.
///
/// It supports the part of ECMAScript in which filters are written: functions, arrow functions,
/// `var`, `let` and `const`, classes, all statements and operators. Functions run without a break:
/// `await` returns the value of a promise that has one already. Modules are not supported.
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

    private(set) var lexer: ScriptLexer
    /// The lexer as it was before the token.
    private var before: ScriptLexer
    /// The ends of the parentheses that open the parameters of an arrow function.
    private var arrows: Set<Int> = []
    private var hasArrows = false
    /// The text of which statements keep their places; `nil` if they keep none.
    let origin: ScriptOrigin?
    var token = ScriptToken.end
    var depth = 0

    init(_ text: String, keepsPlaces: Bool = false) throws(StoreError) {
        lexer = ScriptLexer(text)
        before = lexer
        origin = keepsPlaces ? ScriptOrigin(lexer) : nil
        hasArrows = text.contains("=>")
        if hasArrows { arrows = Self.arrows(lexer) }
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
        return ScriptFunction(name: nil, body: statements)
    }

    /// Finds the parentheses that `=>` follows, so that no text is parsed twice.
    private static func arrows(_ lexer: ScriptLexer) -> Set<Int> {
        var rest = lexer
        var arrows: Set<Int> = []
        var open: [Int] = []
        var closed: Int?
        var allowsPattern = true
        while true {
            let token: ScriptToken
            do throws(StoreError) {
                token = try rest.next(allowsPattern: allowsPattern)
            } catch {
                // The parser reports the error when it arrives there.
                return arrows
            }
            if token == .mark("=>"), let closed { arrows.insert(closed) }
            closed = nil
            allowsPattern = false
            switch token {
            case .end: return arrows
            case .mark("("):
                open.append(rest.position)
                allowsPattern = true
            case .mark(")"): closed = open.popLast()
            case .mark("]"), .mark("}"): break
            case .mark: allowsPattern = true
            case .name(let name): allowsPattern = keywords.contains(name) && name != "this"
            case .number, .bigInt, .string, .template, .pattern: break
            }
        }
    }

    // MARK: Tokens

    /// The place where the token begins.
    var offset: Int { lexer.start }

    /// Returns the text from a place up to the token before this one.
    func source(from start: Int) -> String {
        lexer.source(start..<max(start, before.position))
    }

    /// The token after this one; the end for an invalid one.
    var nextToken: (token: ScriptToken, isAfterLineEnd: Bool) {
        var rest = lexer
        do throws(StoreError) {
            let token = try rest.next(allowsPattern: false)
            return (token, rest.isAfterLineEnd)
        } catch {
            return (.end, false)
        }
    }

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
            case .number, .bigInt: "numeric literal"
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
    /// Reads a function from the word `function`, or `async`, on.
    mutating func function() throws(StoreError) -> ScriptFunction {
        let start = offset
        let isAsync = try takeWord("async")
        try advance()
        let isGenerator = try take("*")
        let name = isMark("(") ? nil : try name()
        return try function(
            name: name, from: start, isAsync: isAsync, isGenerator: isGenerator)
    }

    /// Reads the parameters and the body of a function.
    mutating func function(
        name: String?, from start: Int, isAsync: Bool = false, isGenerator: Bool = false
    ) throws(StoreError) -> ScriptFunction {
        try deeper { (parser) throws(StoreError) in
            let (parameters, rest) = try parser.parameters()
            let body = try parser.block()
            return ScriptFunction(
                name: name, parameters: parameters, rest: rest, body: body, isAsync: isAsync,
                isGenerator: isGenerator, source: parser.source(from: start), origin: parser.origin)
        }
    }

    private mutating func parameters() throws(StoreError) -> ([ScriptTarget], ScriptTarget?) {
        try expect("(")
        var targets: [ScriptTarget] = []
        while try !take(")") {
            if try take("...") {
                let rest = try target()
                try expect(")")
                return (targets, rest)
            }
            targets.append(try defaultedTarget())
            guard isMark(")") else {
                try expect(",")
                continue
            }
        }
        return (targets, nil)
    }

    /// Reads a name or a pattern that takes a value.
    mutating func target() throws(StoreError) -> ScriptTarget {
        if isMark("[") || isMark("{") { return try ScriptTarget(try primary()) }
        return .place(.name(try name()))
    }

    private mutating func defaultedTarget() throws(StoreError) -> ScriptTarget {
        let target = try target()
        return try take("=") ? .defaulted(target, try assignment()) : target
    }

    /// Reads an arrow function if one begins here.
    mutating func arrow() throws(StoreError) -> ScriptExpression? {
        let start = offset
        if isWord("async"), !nextToken.isAfterLineEnd {
            var inner = self
            try inner.advance()
            guard inner.beginsArrow else { return beginsArrow ? try arrow(from: start) : nil }
            self = inner
            return try arrow(from: start, isAsync: true)
        }
        return beginsArrow ? try arrow(from: start) : nil
    }

    private var beginsArrow: Bool {
        switch token {
        case .mark("("): arrows.contains(lexer.position)
        case .name(let name):
            hasArrows
                ? !Self.keywords.contains(name) && nextToken.token == .mark("=>") : false
        default: false
        }
    }

    private mutating func arrow(
        from start: Int, isAsync: Bool = false
    ) throws(StoreError) -> ScriptExpression {
        var (parameters, rest): ([ScriptTarget], ScriptTarget?) = ([], nil)
        if isMark("(") {
            (parameters, rest) = try self.parameters()
        } else {
            parameters = [.place(.name(try name()))]
        }
        try expect("=>")
        return try deeper { (parser) throws(StoreError) in
            let body: [ScriptStatement] =
                parser.isMark("{")
                ? try parser.block() : [.return(try parser.assignment())]
            return .function(
                ScriptFunction(
                    name: nil, parameters: parameters, rest: rest, body: body, isArrow: true,
                    isAsync: isAsync, source: parser.source(from: start), origin: parser.origin))
        }
    }
}
