import BSONQuery

/// A literal of MongoDB's shell as Extended JSON; no code is run.
///
/// ```swift
/// try ScriptLiteral("{_id: 1, at: ISODate('2024-05-01')}").extendedJSON
/// ```
package struct ScriptLiteral {
    /// The reason why a text is not a literal.
    package struct Fault: Error {
        /// The reason.
        package let message: String
        /// The place in the text, in bytes.
        package let byteOffset: Int
        /// Whether it names the cause, also where another reader of the text comes further.
        package var isCause = false
    }

    /// The value as Extended JSON.
    package private(set) var extendedJSON = ""

    private let scalars: [Unicode.Scalar]
    private var lexer: ScriptLexer
    private var token = ScriptToken.end
    private var depth = 0
    /// Whether the value that is read is that of a date.
    private var isInDate = false
    /// The places where values begin: in Extended JSON, in bytes, and in the text, in scalars.
    private var places: [(written: Int, read: Int)] = []

    private static let depthMax = 200
    /// What a value without quotes does not contain.
    private static let ends: Set<Unicode.Scalar> = [",", ")", "}", "]", " ", "\n", "\t", "\r"]

    /// Translates a text that holds one value.
    ///
    /// - Throws: the fault, for anything but a literal and calls of known constructors.
    package init(_ text: String) throws(Fault) {
        scalars = Array(text.unicodeScalars)
        lexer = ScriptLexer(text)
        try advance()
        try value()
        guard token == .end else { throw fault("there is text behind the value") }
    }

    /// Returns the place in the text of the value that is at or before a place in Extended JSON.
    package func byteOffset(of written: Int) -> Int {
        byteOffset(places.last { $0.written <= written }?.read ?? 0)
    }

    private func byteOffset(_ scalarCount: Int) -> Int {
        scalars.prefix(scalarCount).reduce(0) { $0 + UTF8.width($1) }
    }

    private func fault(_ message: String) -> Fault {
        Fault(message: message, byteOffset: byteOffset(lexer.start))
    }

    private mutating func advance(allowsPattern: Bool = true) throws(Fault) {
        do throws(StoreError) {
            token = try lexer.next(allowsPattern: allowsPattern)
        } catch {
            throw fault(error.message.replacing("SyntaxError: ", with: ""))
        }
    }

    private mutating func expect(_ mark: String) throws(Fault) {
        guard token == .mark(mark) else { throw fault("\(mark) is expected") }
        try advance()
    }

    // MARK: Values

    private mutating func value() throws(Fault) {
        guard depth < Self.depthMax else { throw fault("the value is nested too deeply") }
        depth += 1
        defer { depth -= 1 }
        places.append((extendedJSON.utf8.count, lexer.start))
        switch token {
        case .mark("{"): try object()
        case .mark("["): try list()
        case .string(let text):
            extendedJSON += Self.quoted(text)
            try advance(allowsPattern: false)
        case .pattern(let pattern, let flags):
            extendedJSON += Self.pattern(pattern, flags)
            try advance(allowsPattern: false)
        case .number, .bigInt, .mark("-"), .mark("+"): extendedJSON += try number()
        case .name(let name): try named(name)
        case .template, .mark, .end: throw fault("a value is expected")
        }
    }

    private mutating func object() throws(Fault) {
        try advance()
        extendedJSON += "{"
        var isFirst = true
        while token != .mark("}") {
            if !isFirst { extendedJSON += "," }
            isFirst = false
            places.append((extendedJSON.utf8.count, lexer.start))
            let key = try key()
            extendedJSON += "\(Self.quoted(key)):"
            try expect(":")
            isInDate = key == "$date"
            try value()
            isInDate = false
            guard token == .mark(",") else { break }
            try advance()
        }
        try expect("}")
        extendedJSON += "}"
    }

    /// Reads a key: a text, or a word with dots.
    private mutating func key() throws(Fault) -> String {
        if case .string(let text) = token {
            try advance(allowsPattern: false)
            return text
        }
        var key = ""
        var end = lexer.start
        loop: while lexer.start == end {
            switch token {
            case .name, .number, .mark("."):
                key += lexer.source(lexer.start..<lexer.position)
                end = lexer.position
                try advance(allowsPattern: false)
            case .mark, .bigInt, .string, .template, .pattern, .end: break loop
            }
        }
        guard !key.isEmpty else { throw fault("a key is expected") }
        return key
    }

    private mutating func list() throws(Fault) {
        try advance()
        extendedJSON += "["
        var isFirst = true
        while token != .mark("]") {
            if !isFirst { extendedJSON += "," }
            isFirst = false
            try value()
            guard token == .mark(",") else { break }
            try advance()
        }
        try expect("]")
        extendedJSON += "]"
    }

    /// Reads a number as the text of JSON, or a wrapper for one that JSON does not have.
    private mutating func number() throws(Fault) -> String {
        var sign = ""
        if token == .mark("-") || token == .mark("+") {
            if token == .mark("-") { sign = "-" }
            try advance()
        }
        if token == .name("Infinity") {
            try advance(allowsPattern: false)
            return #"{"$numberDouble":"\#(sign)Infinity"}"#
        }
        if case .bigInt(let number) = token {
            try advance(allowsPattern: false)
            return #"{"$numberLong":"\#(sign)\#(number.text())"}"#
        }
        guard case .number(let number) = token else { throw fault("a number is expected") }
        let (start, end) = (lexer.start, lexer.position)
        let source = lexer.source(start..<end)
        try advance(allowsPattern: false)
        try checkNoDate(start..<end)
        // As it is written where JSON has it, so that no digit of a long number is lost.
        let isJSON = source.wholeMatch(of: #/(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/#) != nil
        let whole = Int64(exactly: number).map(String.init)
        return sign + (isJSON ? source : whole ?? "\(number)")
    }

    /// Refuses a date without quotes, whose year or day was read as a number.
    private func checkNoDate(_ number: Range<Int>) throws(Fault) {
        guard token == .mark("-") || token == .mark("/"), lexer.start == number.upperBound else {
            return
        }
        var text = ""
        text.unicodeScalars += scalars[number.lowerBound...].prefix {
            !Self.ends.contains($0)
        }
        guard isInDate || text.prefixMatch(of: #/[0-9]{4}[-\/][0-9]/#) != nil else { return }
        throw Fault(
            message: "a date needs quotes, such as \"\(text)\"",
            byteOffset: byteOffset(number.lowerBound), isCause: true)
    }

    private mutating func named(_ name: String) throws(Fault) {
        let start = lexer
        switch name {
        case "true", "false", "null":
            try advance(allowsPattern: false)
            extendedJSON += name
        case "undefined":
            try advance(allowsPattern: false)
            extendedJSON += #"{"$undefined":true}"#
        case "NaN":
            try advance(allowsPattern: false)
            extendedJSON += #"{"$numberDouble":"NaN"}"#
        case "Infinity": extendedJSON += try number()
        case "new":
            try advance()
            guard case .name(let name) = token, name != "new" else {
                throw fault("a type such as Date is expected")
            }
            try named(name)
        default:
            try advance()
            var arguments: [Argument]?
            isInDate = name == "ISODate" || name == "Date"
            if token == .mark("(") { arguments = try self.arguments() }
            isInDate = false
            guard let written = Self.constructed(name, arguments) else {
                throw Fault(
                    message: Self.expectation(name), byteOffset: byteOffset(start.start))
            }
            extendedJSON += written
        }
    }

    // MARK: Constructors

    /// An argument of a constructor.
    private enum Argument {
        case text(String)
        case number(String)

        /// The text, or the digits of the number.
        var content: String {
            switch self {
            case .text(let text), .number(let text): text
            }
        }
    }

    private mutating func arguments() throws(Fault) -> [Argument] {
        try advance()
        var arguments: [Argument] = []
        while token != .mark(")") {
            if case .string(let text) = token {
                arguments.append(.text(text))
                try advance(allowsPattern: false)
            } else {
                arguments.append(.number(try number()))
            }
            guard token == .mark(",") else { break }
            try advance()
        }
        guard token == .mark(")") else { throw fault(") is expected") }
        try advance(allowsPattern: false)
        return arguments
    }

    private static let examples = [
        "ISODate": #"ISODate("2024-05-01T12:00:00Z")"#, "Date": #"Date("2024-05-01T12:00:00Z")"#,
        "ObjectId": #"ObjectId("5f0e9c2b1c9d440000a1b2c3")"#,
        "UUID": #"UUID("0123abcd-4567-89ab-cdef-0123456789ab")"#,
        "NumberInt": "NumberInt(5)", "NumberLong": #"NumberLong("5")"#,
        "NumberDecimal": #"NumberDecimal("9.50")"#, "Timestamp": "Timestamp(1700000000, 1)",
        "BinData": #"BinData(0, "aGVsbG8=")"#, "RegExp": #"RegExp("^a", "i")"#,
    ]

    private static func expectation(_ name: String) -> String {
        examples[name].map { "\(name) is written as \($0)" }
            ?? "\(name) is not a value; put a text in quotes, or use one of "
            + examples.keys.sorted().joined(separator: ", ")
    }

    /// Returns the value of a constructor; `nil` if it is unknown or has the wrong arguments.
    private static func constructed(_ name: String, _ arguments: [Argument]?) -> String? {
        switch name {
        case "MinKey": return #"{"$minKey":1}"#
        case "MaxKey": return #"{"$maxKey":1}"#
        case "ObjectId", "ObjectID":
            guard let arguments else { return nil }
            let id = arguments.first?.content ?? BSONObjectID().hex
            return #"{"$oid":\#(quoted(id))}"#
        default: break
        }
        guard let arguments, let first = arguments.first else { return nil }
        let second = arguments.dropFirst().first
        switch name {
        case "ISODate", "Date": return date(first)
        case "UUID": return #"{"$uuid":\#(quoted(first.content))}"#
        case "NumberInt", "Int32": return #"{"$numberInt":\#(quoted(first.content))}"#
        case "NumberLong", "Long": return #"{"$numberLong":\#(quoted(first.content))}"#
        case "NumberDecimal", "Decimal128":
            return #"{"$numberDecimal":\#(quoted(first.content))}"#
        case "Double": return #"{"$numberDouble":\#(quoted(first.content))}"#
        case "Timestamp":
            guard let second else { return nil }
            return #"{"$timestamp":{"t":\#(first.content),"i":\#(second.content)}}"#
        case "BinData":
            guard let second, let subtype = UInt8(first.content) else { return nil }
            let kind = ScriptBSON.hexadecimal([subtype])
            return #"{"$binary":{"base64":\#(quoted(second.content)),"subType":"\#(kind)"}}"#
        case "RegExp", "BSONRegExp": return pattern(first.content, second?.content ?? "")
        case "Code": return #"{"$code":\#(quoted(first.content))}"#
        default: return nil
        }
    }

    private static func date(_ argument: Argument) -> String? {
        let time: Double =
            switch argument {
            case .text(let text): ScriptDate.time(text)
            case .number(let digits): Double(digits) ?? .nan
            }
        guard let milliseconds = Int64(exactly: time.rounded(.towardZero)) else { return nil }
        return #"{"$date":{"$numberLong":"\#(milliseconds)"}}"#
    }

    private static func pattern(_ pattern: String, _ flags: String) -> String {
        let options = String(flags.filter { "imsx".contains($0) }.sorted())
        return #"{"$regularExpression":{"pattern":\#(quoted(pattern)),"options":"\#(options)"}}"#
    }

    private static func quoted(_ text: String) -> String {
        BSONValue.string(text).extendedJSON(.relaxed)
    }
}
