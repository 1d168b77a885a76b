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
            if let arrow = try parser.arrow() { return arrow }
            let target = try parser.conditional()
            guard case .mark(let mark) = parser.token, mark.hasByteSuffix("="),
                !["==", "===", "!=", "!==", "<=", ">="].contains(mark)
            else { return target }
            guard target.isPlace else {
                throw ScriptLexer.illegal("invalid assignment left-hand side")
            }
            try parser.advance()
            let applied = mark == "=" ? nil : ScriptOperator(rawValue: String(mark.dropLast()))
            return .assign(target, applied, try parser.assignment())
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

    private mutating func unary() throws(StoreError) -> ScriptExpression {
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
        while true {
            length += 1
            try Self.check(length)
            if try take(".") {
                value = .member(value, .string(try propertyName()), isOptional: false)
            } else if try take("?.") {
                if try take("[") {
                    value = .member(value, try expression(), isOptional: true)
                    try expect("]")
                } else {
                    value = .member(value, .string(try propertyName()), isOptional: true)
                }
            } else if try take("[") {
                value = .member(value, try expression(), isOptional: false)
                try expect("]")
            } else if allowsCalls, isMark("(") {
                value = .call(value, try arguments())
            } else {
                return value
            }
        }
    }

    /// Reads a name behind a point, where keywords are allowed as names.
    private mutating func propertyName() throws(StoreError) -> String {
        guard case .name(let name) = token else { throw unexpected("missing name after .") }
        try advance()
        return name
    }

    private mutating func arguments() throws(StoreError) -> [ScriptExpression] {
        try expect("(")
        return try list(until: ")")
    }

    private mutating func list(until mark: String) throws(StoreError) -> [ScriptExpression] {
        var values: [ScriptExpression] = []
        while try !take(mark) {
            values.append(try assignment())
            guard isMark(mark) else {
                try expect(",")
                continue
            }
        }
        return values
    }

    private mutating func primary() throws(StoreError) -> ScriptExpression {
        if isMark("/") || isMark("/=") { try readPattern() }
        let read = token
        switch read {
        case .number(let number):
            try advance()
            return .number(number)
        case .string(let text):
            try advance()
            return .string(text)
        case .template(let texts, let sources):
            try advance()
            var values: [ScriptExpression] = []
            for source in sources { values.append(try value(of: source)) }
            return .template(texts, values)
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
        case "function":
            try advance()
            return .function(try function())
        case "new":
            try advance()
            let callee = try accessed(try primary(), allowsCalls: false)
            return .new(callee, isMark("(") ? try arguments() : [])
        default: return .name(try self.name())
        }
    }

    private mutating func object() throws(StoreError) -> ScriptExpression {
        var fields: [(key: ScriptExpression, value: ScriptExpression)] = []
        while try !take("}") {
            let read = token
            try advance()
            switch read {
            case .name(let name):
                if isMark("(") {
                    // A method in short notation.
                    fields.append((.string(name), .function(try function())))
                } else if isMark(":") {
                    try advance()
                    fields.append((.string(name), try assignment()))
                } else {
                    guard !Self.keywords.contains(name) else { throw unexpected() }
                    fields.append((.string(name), .name(name)))
                }
            case .string(let text):
                try expect(":")
                fields.append((.string(text), try assignment()))
            case .number(let number):
                try expect(":")
                fields.append((.number(number), try assignment()))
            case .mark("["):
                let key = try assignment()
                try expect("]")
                try expect(":")
                fields.append((key, try assignment()))
            default: throw unexpected("invalid property id")
            }
            guard isMark("}") else {
                try expect(",")
                continue
            }
        }
        return .object(fields)
    }
}

extension ScriptExpression {
    /// Whether the expression can be assigned to.
    fileprivate var isPlace: Bool {
        switch self {
        case .name, .member: true
        default: false
        }
    }
}
