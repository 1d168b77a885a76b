import BSONQuery

/// Object literals and classes.
extension ScriptParser {
    /// Returns the name of a property; that of a private one cannot be a field's name.
    static func field(_ name: String) -> String {
        name.hasBytePrefix("#") ? ScriptObject.privateMark + name : name
    }

    /// Reads an object literal behind its brace.
    mutating func object() throws(StoreError) -> ScriptExpression {
        var fields: [ScriptField] = []
        while try !take("}") {
            fields.append(try field())
            guard isMark("}") else {
                try expect(",")
                continue
            }
        }
        return .object(fields)
    }

    private mutating func field() throws(StoreError) -> ScriptField {
        if try take("...") { return .spread(try assignment()) }
        let start = offset
        let read = token
        let word = try prefix(["get", "set", "async"])
        let isGenerator = try take("*")
        let shorthand: String? = if case .name(let name) = token, word == nil { name } else { nil }
        let (key, name) = try key()
        switch word {
        case "get": return .getter(key, try function(name: name, from: start))
        case "set": return .setter(key, try function(name: name, from: start))
        default: break
        }
        if isMark("(") {
            let function = try function(
                name: name, from: start, isAsync: word == "async", isGenerator: isGenerator)
            return .property(key, .function(function))
        }
        if try take(":") { return .property(key, try assignment().named(name)) }
        guard let shorthand, read == .name(shorthand), !Self.keywords.contains(shorthand) else {
            throw unexpected()
        }
        // A default is valid only in a pattern.
        if try take("=") {
            return .property(key, .assign(.name(shorthand), nil, try assignment()))
        }
        return .property(key, shorthand == "undefined" ? .undefined : .name(shorthand))
    }

    /// Reads a word such as `get` if a property's name follows it.
    private mutating func prefix(_ words: [String]) throws(StoreError) -> String? {
        guard case .name(let word) = token, words.contains(word) else { return nil }
        switch nextToken.token {
        case .name, .string, .number, .mark("["), .mark("*"):
            try advance()
            return word
        default: return nil
        }
    }

    /// Reads the name of a property, as a value and as a text if it is known.
    private mutating func key() throws(StoreError) -> (ScriptExpression, String?) {
        let read = token
        try advance()
        switch read {
        case .name(let name): return (.string(Self.field(name)), name)
        case .string(let text): return (.string(text), text)
        case .number(let number): return (.number(number), ScriptNumber.text(number))
        case .mark("["):
            let key = try assignment()
            try expect("]")
            return (key, nil)
        default: throw unexpected("invalid property id")
        }
    }

    /// Reads a class from its word on.
    mutating func classLiteral() throws(StoreError) -> ScriptClass {
        try deeper { (parser) throws(StoreError) in
            let start = parser.offset
            try parser.advance()
            var name: String?
            if !parser.isMark("{"), !parser.isWord("extends") { name = try parser.name() }
            let parent = try parser.takeWord("extends") ? try parser.unary() : nil
            try parser.expect("{")
            var members: [ScriptClass.Member] = []
            var constructor: ScriptFunction?
            while try !parser.take("}") {
                if try parser.take(";") { continue }
                let member = try parser.member()
                if case .string("constructor") = member.key, !member.isStatic,
                    case .method(let function) = member.content
                {
                    constructor = function
                } else {
                    members.append(member)
                }
            }
            return ScriptClass(
                name: name, parent: parent, constructor: constructor, members: members,
                source: parser.source(from: start))
        }
    }

    private mutating func member() throws(StoreError) -> ScriptClass.Member {
        let start = offset
        var isStatic = false
        if isWord("static"), nextToken.token == .mark("{") {
            try advance()
            return ScriptClass.Member(key: .null, isStatic: true, content: .block(try block()))
        }
        if try prefix(["static"]) != nil { isStatic = true }
        let word = try prefix(["get", "set", "async"])
        let isGenerator = try take("*")
        let (key, name) = try key()
        if isMark("(") {
            let function = try function(
                name: name, from: start, isAsync: word == "async", isGenerator: isGenerator)
            let content: ScriptClass.Member.Content =
                switch word {
                case "get": .getter(function)
                case "set": .setter(function)
                default: .method(function)
                }
            return ScriptClass.Member(key: key, isStatic: isStatic, content: content)
        }
        let value = try take("=") ? try assignment() : nil
        try endStatement()
        return ScriptClass.Member(key: key, isStatic: isStatic, content: .field(value))
    }
}
