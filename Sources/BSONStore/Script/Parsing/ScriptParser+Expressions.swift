import BSONQuery

extension ScriptParser {
    /// Reads expressions separated by commas; the last one is the value.
    mutating func expression() throws(StoreError) -> ScriptExpression {
        let first = try assignment()
        guard isMark(",") else { return first }
        var values = [first]
        while try take(",") { values.append(try assignment()) }
        return .sequence(values)
    }

    mutating func assignment() throws(StoreError) -> ScriptExpression {
        try deeper { (parser) throws(StoreError) in
            if parser.isWord("yield") { return try parser.yield() }
            if let arrow = try parser.arrow() { return arrow }
            let target = try parser.conditional()
            guard case .mark(let mark) = parser.token, mark.hasByteSuffix("="),
                !["==", "===", "!=", "!==", "<=", ">="].contains(mark)
            else { return target }
            if mark == "=" {
                switch target {
                case .array, .object:
                    let pattern = try ScriptTarget(target)
                    try parser.advance()
                    return .destructure(pattern, try parser.assignment())
                default: break
                }
            }
            guard target.isPlace else {
                throw ScriptLexer.illegal("invalid assignment left-hand side")
            }
            try parser.advance()
            let applied = mark == "=" ? nil : ScriptOperator(rawValue: String(mark.dropLast()))
            return .assign(target, applied, try parser.assignment())
        }
    }

    private mutating func yield() throws(StoreError) -> ScriptExpression {
        try advance()
        if try take("*") { return .yield(try assignment(), isAll: true) }
        switch token {
        case .end, .mark(")"), .mark("]"), .mark("}"), .mark(","), .mark(";"), .mark(":"):
            return .yield(.undefined, isAll: false)
        default:
            return .yield(isAfterLineEnd ? .undefined : try assignment(), isAll: false)
        }
    }

    private mutating func conditional() throws(StoreError) -> ScriptExpression {
        let test = try binary(above: 0)
        guard try take("?") else { return test }
        let yes = try assignment()
        try expect(":")
        return .conditional(test, yes, try assignment())
    }

    private mutating func binary(above least: Int) throws(StoreError) -> ScriptExpression {
        var left = try unary()
        var length = 0
        while let applied = binaryOperator, let precedence = applied.precedence, precedence > least
        {
            try advance()
            // Powers are right-associative.
            let right = try binary(above: applied == .power ? precedence - 1 : precedence)
            left = .binary(applied, left, right)
            length += 1
            try Self.check(length)
        }
        return left
    }

    private var binaryOperator: ScriptOperator? {
        switch token {
        case .mark(let mark): ScriptOperator(rawValue: mark)
        case .name("in"): .isIn
        case .name("instanceof"): .instance
        default: nil
        }
    }

    /// Throws for a chain so long that releasing its tree would overflow the stack.
    private static func check(_ length: Int) throws(StoreError) {
        guard length <= lengthMax else { throw ScriptLexer.illegal("too long an expression") }
    }

    mutating func unary() throws(StoreError) -> ScriptExpression {
        try deeper { (parser) throws(StoreError) in
            switch parser.token {
            case .mark("-"):
                try parser.advance()
                return .binary(.subtract, .number(-0.0), try parser.unary())
            case .mark("+"):
                try parser.advance()
                return .binary(.subtract, try parser.unary(), .number(0))
            case .mark("++"), .mark("--"):
                let by: Double = parser.isMark("++") ? 1 : -1
                try parser.advance()
                return try Self.step(try parser.unary(), by: by, isPrefix: true)
            case .name("await") where parser.awaits:
                try parser.advance()
                return .await(try parser.unary())
            case .mark(let text), .name(let text):
                guard let applied = ScriptOperator(rawValue: text), applied.precedence == nil else {
                    return try parser.postfix()
                }
                try parser.advance()
                return .unary(applied, try parser.unary())
            default: return try parser.postfix()
            }
        }
    }

    /// Whether a value follows `await`.
    private var awaits: Bool {
        switch nextToken.token {
        case .end: false
        case .mark(let mark): ["(", "[", "{", "!", "~"].contains(mark)
        case .name(let name): name != "in" && name != "instanceof" && name != "of"
        case .number, .bigInt, .string, .template, .pattern: true
        }
    }

    private static func step(
        _ place: ScriptExpression, by: Double, isPrefix: Bool
    ) throws(StoreError) -> ScriptExpression {
        guard place.isPlace else { throw ScriptLexer.illegal("invalid increment operand") }
        return .step(place, by: by, isPrefix: isPrefix)
    }

    private mutating func postfix() throws(StoreError) -> ScriptExpression {
        let value = try accessed(try primary(), allowsCalls: true)
        guard !isAfterLineEnd else { return value }
        if try take("++") { return try Self.step(value, by: 1, isPrefix: false) }
        if try take("--") { return try Self.step(value, by: -1, isPrefix: false) }
        return value
    }

    /// Reads the accesses and calls behind a value.
    private mutating func accessed(
        _ subject: ScriptExpression, allowsCalls: Bool
    ) throws(StoreError) -> ScriptExpression {
        var value = subject
        var length = 0
        var isChain = false
        while true {
            length += 1
            try Self.check(length)
            if try take(".") {
                value = .member(value, .string(try propertyName()), isOptional: false)
            } else if try take("?.") {
                isChain = true
                if try take("[") {
                    value = .member(value, try expression(), isOptional: true)
                    try expect("]")
                } else if isMark("(") {
                    value = .call(value, try arguments(), isOptional: true)
                } else {
                    value = .member(value, .string(try propertyName()), isOptional: true)
                }
            } else if try take("[") {
                value = .member(value, try expression(), isOptional: false)
                try expect("]")
            } else if allowsCalls, isMark("(") {
                value = .call(value, try arguments(), isOptional: false)
            } else {
                if case .template(_, let sources) = token, !isAfterLineEnd || !allowsCalls {
                    if case .member(.name("String"), .string("raw"), false) = value {
                        let texts = lexer.rawTexts
                        try advance()
                        value = .template(texts, try values(of: sources))
                        continue
                    }
                    throw ScriptLexer.illegal("tagged templates are not supported")
                }
                return isChain ? .chain(value) : value
            }
        }
    }

    /// Reads a name behind a point, where keywords are allowed as names.
    private mutating func propertyName() throws(StoreError) -> String {
        guard case .name(let name) = token else { throw unexpected("missing name after .") }
        try advance()
        return Self.field(name)
    }

    private mutating func arguments() throws(StoreError) -> [ScriptExpression] {
        try expect("(")
        return try list(until: ")")
    }

    private mutating func list(until mark: String) throws(StoreError) -> [ScriptExpression] {
        var values: [ScriptExpression] = []
        while try !take(mark) {
            if mark == "]", isMark(",") {
                values.append(.hole)
            } else if try take("...") {
                values.append(.spread(try assignment()))
            } else {
                values.append(try assignment())
            }
            guard isMark(mark) else {
                try expect(",")
                continue
            }
        }
        return values
    }

    mutating func primary() throws(StoreError) -> ScriptExpression {
        if isMark("/") || isMark("/=") { try readPattern() }
        let read = token
        switch read {
        case .number(let number):
            try advance()
            return .number(number)
        case .bigInt(let number):
            try advance()
            return .bigInt(number)
        case .string(let text):
            try advance()
            return .string(text)
        case .template(let texts, let sources):
            try advance()
            return .template(texts, try values(of: sources))
        case .pattern(let pattern, let flags):
            try advance()
            return .pattern(pattern, flags: flags)
        case .mark("("):
            try advance()
            let value = try expression()
            try expect(")")
            return value
        case .mark("["):
            try advance()
            return .array(try list(until: "]"))
        case .mark("{"):
            try advance()
            return try object()
        case .name(let name): return try named(name)
        case .mark, .end: throw unexpected()
        }
    }

    private func values(of sources: [String]) throws(StoreError) -> [ScriptExpression] {
        var values: [ScriptExpression] = []
        for source in sources { values.append(try value(of: source)) }
        return values
    }

    /// Reads a value in a template, from its own text.
    private func value(of source: String) throws(StoreError) -> ScriptExpression {
        var parser = try ScriptParser(source)
        parser.depth = depth
        let value = try parser.expression()
        guard parser.token == .end else { throw parser.unexpected() }
        return value
    }

    private mutating func named(_ name: String) throws(StoreError) -> ScriptExpression {
        switch name {
        case "true", "false":
            try advance()
            return .bool(name == "true")
        case "null":
            try advance()
            return .null
        case "undefined":
            try advance()
            return .undefined
        case "this":
            try advance()
            return .this
        case "function": return .function(try functionExpression())
        case "async" where nextToken == (.name("function"), false):
            return .function(try functionExpression())
        case "class": return .class(try classLiteral())
        case "super":
            try advance()
            if isMark("(") { return .superCall(try arguments()) }
            if try take(".") { return .superMember(.string(try propertyName())) }
            try expect("[")
            let name = try expression()
            try expect("]")
            return .superMember(name)
        case "new":
            try advance()
            let callee = try accessed(try primary(), allowsCalls: false)
            return .new(callee, isMark("(") ? try arguments() : [])
        default: return .name(try self.name())
        }
    }
}

extension ScriptParser {
    private mutating func functionExpression() throws(StoreError) -> ScriptFunction {
        let function = try function()
        guard let name = function.name else { return function }
        return function.named(name, bindsName: true)
    }
}

extension ScriptExpression {
    /// Returns the expression, with a name if it is a function without one.
    func named(_ name: String?) -> ScriptExpression {
        switch self {
        case .function(let function) where function.name == nil && name != nil:
            .function(function.named(name))
        case .class(let made) where made.name == nil && name != nil:
            .class(made.named(name))
        default: self
        }
    }

    /// Whether the expression can be assigned to.
    fileprivate var isPlace: Bool {
        switch self {
        case .name, .member, .superMember: true
        default: false
        }
    }
}
