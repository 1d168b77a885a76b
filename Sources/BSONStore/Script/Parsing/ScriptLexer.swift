import BSONQuery

/// A token of a script's text.
enum ScriptToken: Equatable, Sendable {
    case name(String)
    case number(Double)
    case bigInt(ScriptBigInt)
    case string(String)
    /// The texts of a template, with the sources of the values between them.
    case template([String], [String])
    case pattern(String, flags: String)
    case mark(String)
    case end
}

/// A lexer that splits a script's text into tokens.
struct ScriptLexer: Sendable {
    private let text: [Unicode.Scalar]
    private(set) var position = 0
    /// Whether a line ended before the last token.
    private(set) var isAfterLineEnd = false
    /// The place where the last token begins.
    private(set) var start = 0

    /// The texts of the last template as they are written.
    private(set) var rawTexts: [String] = []

    /// The punctuators, longer ones before their own prefixes.
    private static let marks: [[Unicode.Scalar]] = [
        ">>>=", "...", "===", "!==", "**=", "&&=", "||=", "??=", "<<=", ">>=", ">>>", "=>", "==",
        "!=", "<=", ">=", "&&",
        "||", "??", "?.", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<", ">>",
        "**",
        "{", "}", "(", ")", "[", "]", ";", ",", "<", ">", "+", "-", "*", "/", "%", "&", "|", "^",
        "!",
        "~", "?", ":", "=", ".",
    ].map { Array($0.unicodeScalars) }

    init(_ text: String) { self.text = Array(text.unicodeScalars) }

    /// Reads the next token.
    ///
    /// - Parameter allowsPattern: whether a slash begins a regular expression, as where a value may
    ///   be.
    /// - Throws: 139 for an invalid token.
    mutating func next(allowsPattern: Bool) throws(StoreError) -> ScriptToken {
        try skip()
        start = position
        guard position < text.count else { return .end }
        let scalar = text[position]
        if scalar == "#", peek(1).map(Self.beginsName) == true {
            position += 1
            return .name("#" + name())
        }
        if Self.beginsName(scalar) { return .name(name()) }
        if Self.isDigit(scalar) || scalar == "." && peek(1).map(Self.isDigit) == true {
            return try number()
        }
        switch scalar {
        case "\"", "'": return .string(try string(scalar))
        case "`": return try template()
        case "/" where allowsPattern: return try pattern()
        default: break
        }
        for mark in Self.marks where text[position...].starts(with: mark) {
            // `a?.5:b` is a condition.
            if mark.count == 2, mark[0] == "?", mark[1] == ".", peek(2).map(Self.isDigit) == true {
                continue
            }
            position += mark.count
            return .mark(Self.string(mark[...]))
        }
        throw Self.illegal("illegal character")
    }

    /// Returns the text from a place to another.
    func source(_ range: Range<Int>) -> String { Self.string(text[range]) }

    /// Returns the line and the column of a place, both from 1 on.
    func place(_ offset: Int) -> (line: Int, column: Int) {
        var (line, column) = (1, 1)
        for scalar in text.prefix(offset) {
            column += 1
            if scalar == "\n" { (line, column) = (line + 1, 1) }
        }
        return (line, column)
    }

    static func illegal(_ what: String) -> StoreError {
        StoreError(.scriptFailed, "SyntaxError: \(what)")
    }

    private func peek(_ offset: Int) -> Unicode.Scalar? {
        position + offset < text.count ? text[position + offset] : nil
    }

    /// Skips space and comments.
    private mutating func skip() throws(StoreError) {
        isAfterLineEnd = false
        while position < text.count {
            let scalar = text[position]
            if scalar == "/" && peek(1) == "/" {
                while position < text.count, !Self.endsLine(text[position]) { position += 1 }
            } else if scalar == "/" && peek(1) == "*" {
                position += 2
                while !(peek(0) == "*" && peek(1) == "/") {
                    guard let scalar = peek(0) else { throw Self.illegal("unterminated comment") }
                    if Self.endsLine(scalar) { isAfterLineEnd = true }
                    position += 1
                }
                position += 2
            } else if scalar.properties.isWhitespace || scalar == "\u{FEFF}" {
                if Self.endsLine(scalar) { isAfterLineEnd = true }
                position += 1
            } else {
                return
            }
        }
    }

    private static func endsLine(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "\n" || scalar == "\r" || scalar == "\u{2028}" || scalar == "\u{2029}"
    }

    private static func beginsName(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "$" || scalar == "_" || scalar.properties.isIDStart
    }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool {
        ("0"..."9").contains(scalar)
    }

    private static func string(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
        var text = ""
        text.unicodeScalars.append(contentsOf: scalars)
        return text
    }

    private mutating func name() -> String {
        let start = position
        while let scalar = peek(0), Self.beginsName(scalar) || scalar.properties.isIDContinue {
            position += 1
        }
        return Self.string(text[start..<position])
    }

    private mutating func number() throws(StoreError) -> ScriptToken {
        let start = position
        if text[position] == "0", let base = peek(1), let radix = Self.radix(base) {
            position += 2
            let digits = name(orDigits: true).replacing("_", with: "")
            // A hexadecimal digit is never an `n`.
            let isBigInt = digits.hasByteSuffix("n")
            guard
                let value = ScriptBigInt(
                    digits: isBigInt ? digits.dropLast() : digits[...], radix: radix)
            else { throw Self.illegal("missing digits after 0\(base)") }
            return isBigInt ? .bigInt(value) : .number(value.double)
        }
        func digits(_ lexer: inout ScriptLexer) {
            while let scalar = lexer.peek(0), Self.isDigit(scalar) || scalar == "_" {
                lexer.position += 1
            }
        }
        digits(&self)
        if peek(0) == "n" {
            let text = Self.string(text[start..<position]).replacing("_", with: "")
            position += 1
            guard peek(0).map({ Self.beginsName($0) || Self.isDigit($0) }) != true,
                text == "0" || !text.hasBytePrefix("0"), let value = ScriptBigInt(digits: text)
            else { throw Self.illegal("invalid BigInt literal") }
            return .bigInt(value)
        }
        if peek(0) == "." {
            position += 1
            digits(&self)
        }
        if peek(0) == "e" || peek(0) == "E" {
            position += 1
            if peek(0) == "+" || peek(0) == "-" { position += 1 }
            digits(&self)
        }
        var digitsText = Self.string(text[start..<position]).replacing("_", with: "")
        if digitsText.hasByteSuffix(".") { digitsText.removeLast() }
        if digitsText.hasBytePrefix(".") { digitsText = "0" + digitsText }
        guard let value = Double(digitsText.replacing(".e", with: "e")),
            peek(0).map(Self.beginsName) != true
        else { throw Self.illegal("identifier starts immediately after numeric literal") }
        return .number(value)
    }

    private static func radix(_ letter: Unicode.Scalar) -> Int? {
        switch letter {
        case "x", "X": 16
        case "o", "O": 8
        case "b", "B": 2
        default: nil
        }
    }

    private mutating func name(orDigits: Bool) -> String {
        let start = position
        while let scalar = peek(0), Self.isDigit(scalar) || Self.beginsName(scalar) {
            position += 1
        }
        return Self.string(text[start..<position])
    }
}

// MARK: - Texts

extension ScriptLexer {
    private mutating func string(_ quote: Unicode.Scalar) throws(StoreError) -> String {
        position += 1
        var units: [UInt16] = []
        while let scalar = peek(0), scalar != quote {
            guard !Self.endsLine(scalar) else { break }
            position += 1
            if scalar == "\\" {
                try escape(into: &units)
            } else {
                units += Array(String(scalar).utf16)
            }
        }
        guard peek(0) == quote else {
            throw Self.illegal("\(quote)\(quote) string literal contains an unescaped line break")
        }
        position += 1
        return String(decoding: units, as: UTF16.self)
    }

    /// Reads the rest of an escape behind the backslash.
    private mutating func escape(into units: inout [UInt16]) throws(StoreError) {
        guard let scalar = peek(0) else { throw Self.illegal("unterminated string literal") }
        position += 1
        switch scalar {
        case "n": units.append(10)
        case "t": units.append(9)
        case "r": units.append(13)
        case "b": units.append(8)
        case "f": units.append(12)
        case "v": units.append(11)
        case "0" where peek(0).map(Self.isDigit) != true: units.append(0)
        case "\n", "\u{2028}", "\u{2029}": break
        case "\r": if peek(0) == "\n" { position += 1 }
        case "x": units.append(UInt16(truncatingIfNeeded: try hexadecimal(2)))
        case "u" where peek(0) == "{":
            position += 1
            var digits = 0
            while let digit = peek(digits), digit != "}", digits < 7 { digits += 1 }
            let value = try hexadecimal(digits)
            guard let scalar = Unicode.Scalar(value), peek(0) == "}" else {
                throw Self.illegal("malformed Unicode character escape sequence")
            }
            position += 1
            units += Array(String(scalar).utf16)
        case "u": units.append(UInt16(truncatingIfNeeded: try hexadecimal(4)))
        default: units += Array(String(scalar).utf16)
        }
    }

    private mutating func hexadecimal(_ count: Int) throws(StoreError) -> UInt32 {
        guard position + count <= text.count,
            let value = UInt32(Self.string(text[position..<position + count]), radix: 16)
        else { throw Self.illegal("malformed hexadecimal character escape sequence") }
        position += count
        return value
    }

    private mutating func template() throws(StoreError) -> ScriptToken {
        position += 1
        var texts: [String] = []
        var sources: [String] = []
        var raw: [String] = []
        var rawStart = position
        var units: [UInt16] = []
        while let scalar = peek(0), scalar != "`" {
            position += 1
            if scalar == "\\" {
                try escape(into: &units)
            } else if scalar == "$" && peek(0) == "{" {
                raw.append(Self.string(text[rawStart..<position - 1]))
                let start = position + 1
                try skipTemplateValue()
                rawStart = position
                texts.append(String(decoding: units, as: UTF16.self))
                units = []
                sources.append(Self.string(text[start..<position - 1]))
            } else {
                units += Array(String(scalar).utf16)
            }
        }
        guard peek(0) == "`" else { throw Self.illegal("unterminated template literal") }
        rawTexts = raw + [Self.string(text[rawStart..<position])]
        position += 1
        return .template(texts + [String(decoding: units, as: UTF16.self)], sources)
    }

    /// Skips a value in braces; braces in its texts do not count.
    private mutating func skipTemplateValue() throws(StoreError) {
        var braces = 0
        repeat {
            guard let scalar = peek(0) else { throw Self.illegal("unterminated template") }
            switch scalar {
            case "\"", "'": _ = try string(scalar)
            case "`":
                position += 1
                while peek(0) != "`" {
                    guard let inner = peek(0) else { throw Self.illegal("unterminated template") }
                    position += 1
                    if inner == "\\" { position += 1 }
                    if inner == "$" && peek(0) == "{" { try skipTemplateValue() }
                }
                position += 1
            default:
                if scalar == "{" { braces += 1 } else if scalar == "}" { braces -= 1 }
                position += 1
            }
        } while braces > 0
    }

    private mutating func pattern() throws(StoreError) -> ScriptToken {
        position += 1
        let start = position
        var isInClass = false
        while let scalar = peek(0), !Self.endsLine(scalar), scalar != "/" || isInClass {
            if scalar == "\\" {
                position += 1
            } else if scalar == "[" {
                isInClass = true
            } else if scalar == "]" {
                isInClass = false
            }
            position += 1
        }
        guard peek(0) == "/" else { throw Self.illegal("unterminated regular expression literal") }
        let source = Self.string(text[start..<position])
        position += 1
        return .pattern(source, flags: name(orDigits: true))
    }
}
