import BSONQuery

extension ScriptParser {
    /// Reads statements in braces.
    mutating func block() throws(StoreError) -> [ScriptStatement] {
        try expect("{")
        var statements: [ScriptStatement] = []
        while try !take("}") {
            guard token != .end else { throw unexpected("missing } after statements") }
            statements.append(try statement())
        }
        return statements
    }

    mutating func statement() throws(StoreError) -> ScriptStatement {
        try deeper { (parser) throws(StoreError) in
            let start = parser.offset
            let statement = try parser.statementHere()
            guard parser.origin != nil else { return statement }
            // Functions are declared before their statement is reached.
            if case .function = statement { return statement }
            return .located(start, statement)
        }
    }

    private mutating func statementHere() throws(StoreError) -> ScriptStatement {
        if isMark("{") { return .block(try block()) }
        if try take(";") { return .block([]) }
        guard case .name(let word) = token else { return try value() }
        if !Self.keywords.contains(word), nextToken.token == .mark(":") {
            try advance()
            try advance()
            return .labelled(
                word,
                try deeper { (parser) throws(StoreError) in
                    try parser.statementHere()
                })
        }
        switch word {
        case "var", "const": return try declaration()
        case "let" where beginsDeclaration: return try declaration()
        case "class":
            let made = try classLiteral()
            guard let name = made.name else { throw unexpected("missing name") }
            return .declare([(.place(.name(name)), .class(made))], .block)
        case "with": throw ScriptLexer.illegal("the with statement is not supported")
        case "import" where nextToken.token != .mark("("), "export":
            throw ScriptLexer.illegal("\(word) declarations are not supported")
        case "debugger":
            try advance()
            try endStatement()
            return .block([])
        case "async" where nextToken == (.name("function"), false): fallthrough
        case "function":
            let function = try function()
            guard function.name != nil else { throw unexpected("missing name") }
            return .function(function)
        case "if": return try condition()
        case "for", "while", "do": return try loop(word)
        case "switch": return try selection()
        case "try": return try attempted()
        case "return", "throw", "break", "continue": return try jump(word)
        default: return try value()
        }
    }

    private mutating func value() throws(StoreError) -> ScriptStatement {
        let value = try expression()
        try endStatement()
        return .expression(value)
    }

    /// Reads the end of a statement: a semicolon, or a place where it may be omitted.
    mutating func endStatement() throws(StoreError) {
        if try take(";") || isMark("}") || token == .end || isAfterLineEnd { return }
        throw unexpected()
    }

    private var beginsDeclaration: Bool {
        var rest = self
        do throws(StoreError) {
            try rest.advance()
            if case .name(let name) = rest.token { return !Self.keywords.contains(name) }
            return rest.isMark("[") || rest.isMark("{")
        } catch {
            return false
        }
    }

    private mutating func declaration() throws(StoreError) -> ScriptStatement {
        let declared = try names()
        try endStatement()
        return declared
    }

    /// Reads `var`, `let` or `const` with names and values.
    private mutating func names() throws(StoreError) -> ScriptStatement {
        let binding = binding
        try advance()
        var names: [(target: ScriptTarget, value: ScriptExpression?)] = []
        repeat {
            let target = try target()
            let value = try take("=") ? try assignment() : nil
            if value == nil, target.isPattern || binding == .constant {
                throw ScriptLexer.illegal(
                    target.isPattern
                        ? "missing = in destructuring declaration"
                        : "missing = in const declaration")
            }
            var name: String?
            if case .place(.name(let known)) = target { name = known }
            names.append((target, value?.named(name)))
        } while try take(",")
        return .declare(names, binding)
    }

    /// The binding that the word at the token declares.
    private var binding: ScriptBinding {
        switch token {
        case .name("var"): .variable
        case .name("let"): .block
        case .name("const"): .constant
        default: .assign
        }
    }

    private mutating func condition() throws(StoreError) -> ScriptStatement {
        try advance()
        let test = try parenthesized()
        let body = try statement()
        return .condition(test, body, try takeWord("else") ? try statement() : nil)
    }

    private mutating func parenthesized() throws(StoreError) -> ScriptExpression {
        try expect("(")
        let value = try expression()
        try expect(")")
        return value
    }

    private mutating func loop(_ word: String) throws(StoreError) -> ScriptStatement {
        try advance()
        switch word {
        case "while":
            let test = try parenthesized()
            return .loop(
                first: nil, test: test, next: nil, body: try statement(), testsFirst: true)
        case "do":
            let body = try statement()
            guard try takeWord("while") else { throw unexpected("missing while") }
            let test = try parenthesized()
            _ = try take(";")
            return .loop(first: nil, test: test, next: nil, body: body, testsFirst: false)
        default:
            _ = try takeWord("await")
            try expect("(")
            if let each = try forEach() { return each }
            return try counting()
        }
    }

    /// Reads `for` with `in` or `of`; `nil` for other loops.
    private mutating func forEach() throws(StoreError) -> ScriptStatement? {
        let head = attempt { (parser) throws(StoreError) -> (ScriptTarget, ScriptBinding, Bool)? in
            let binding = parser.binding
            if binding != .assign { try parser.advance() }
            // A pattern is read again in a loop of another kind; no loop is inside of it.
            let target = try parser.target()
            if try parser.takeWord("in") { return (target, binding, false) }
            return try parser.takeWord("of") ? (target, binding, true) : nil
        }
        guard let (target, binding, isValues) = head else { return nil }
        let subject = try expression()
        try expect(")")
        return .forEach(
            target, binding, of: subject, isValues: isValues, body: try statement())
    }

    private mutating func counting() throws(StoreError) -> ScriptStatement {
        var first: ScriptStatement?
        if binding != .assign {
            first = try names()
        } else if !isMark(";") {
            first = .expression(try expression())
        }
        try expect(";")
        let test = isMark(";") ? nil : try expression()
        try expect(";")
        let next = isMark(")") ? nil : try expression()
        try expect(")")
        return .loop(
            first: first, test: test, next: next, body: try statement(), testsFirst: true)
    }

    private mutating func selection() throws(StoreError) -> ScriptStatement {
        try advance()
        let subject = try parenthesized()
        try expect("{")
        var cases: [(test: ScriptExpression?, body: [ScriptStatement])] = []
        while try !take("}") {
            var test: ScriptExpression?
            if try takeWord("case") {
                test = try expression()
            } else {
                guard try takeWord("default") else { throw unexpected("missing case") }
            }
            try expect(":")
            var body: [ScriptStatement] = []
            while !isWord("case") && !isWord("default") && !isMark("}") {
                guard token != .end else { throw unexpected("missing } after cases") }
                body.append(try statement())
            }
            cases.append((test, body))
        }
        return .select(subject, cases)
    }

    private mutating func attempted() throws(StoreError) -> ScriptStatement {
        try advance()
        let body = try block()
        var name: ScriptTarget?
        var rescue: [ScriptStatement]?
        if try takeWord("catch") {
            if try take("(") {
                name = try target()
                try expect(")")
            }
            rescue = try block()
        }
        let always = try takeWord("finally") ? try block() : nil
        guard rescue != nil || always != nil else { throw unexpected("missing catch or finally") }
        return .attempt(body, name: name, rescue: rescue, always: always ?? [])
    }

    private mutating func jump(_ word: String) throws(StoreError) -> ScriptStatement {
        try advance()
        var value: ScriptExpression?
        var label: String?
        if word == "break" || word == "continue", !isAfterLineEnd, case .name(let name) = token,
            !Self.keywords.contains(name)
        {
            label = try self.name()
        }
        if word == "throw" || word == "return" {
            if !isMark(";") && !isMark("}") && token != .end && !isAfterLineEnd {
                value = try expression()
            }
        }
        try endStatement()
        switch word {
        case "break": return .break(label)
        case "continue": return .continue(label)
        case "return": return .return(value)
        default:
            guard let value else { throw unexpected("missing value") }
            return .throw(value)
        }
    }
}
