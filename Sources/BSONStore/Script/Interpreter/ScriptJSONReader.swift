import BSONQuery

/// A reader of the text that `JSON.parse` takes.
struct ScriptJSONReader {
    private let interpreter: ScriptInterpreter
    private let text: String
    private let bytes: [UInt8]
    private var position = 0

    /// Reads the value of a text.
    static func value(
        of text: String, _ interpreter: ScriptInterpreter
    ) throws(ScriptFailure) -> ScriptValue {
        try interpreter.charge(4 * text.utf8.count)
        var reader = ScriptJSONReader(interpreter, text)
        let value = try reader.value()
        reader.skipSpace()
        guard reader.position == reader.bytes.count else { throw reader.unexpected() }
        return value
    }

    private init(_ interpreter: ScriptInterpreter, _ text: String) {
        self.interpreter = interpreter
        self.text = text
        bytes = Array(text.utf8)
    }

    private mutating func value() throws(ScriptFailure) -> ScriptValue {
        try interpreter.step()
        skipSpace()
        switch next {
        case UInt8(ascii: "{"): return try object()
        case UInt8(ascii: "["): return try array()
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return .number(try number())
        }
    }

    private mutating func object() throws(ScriptFailure) -> ScriptValue {
        let object = ScriptObject()
        try interpreter.charge(64)
        position += 1
        skipSpace()
        if take("}") { return .object(object) }
        repeat {
            skipSpace()
            guard next == UInt8(ascii: "\"") else { throw unexpected() }
            let name = try string()
            skipSpace()
            guard take(":") else { throw unexpected() }
            try interpreter.charge(48 + name.utf8.count)
            object.set(name, try inner())
            skipSpace()
        } while take(",")
        guard take("}") else { throw unexpected() }
        return .object(object)
    }

    private mutating func array() throws(ScriptFailure) -> ScriptValue {
        let array = ScriptObject(elements: [])
        try interpreter.charge(64)
        position += 1
        skipSpace()
        if take("]") { return .object(array) }
        repeat {
            try interpreter.charge(16)
            array.elements.append(try inner())
            skipSpace()
        } while take(",")
        guard take("]") else { throw unexpected() }
        return .object(array)
    }

    /// Reads a value one level deeper.
    private mutating func inner() throws(ScriptFailure) -> ScriptValue {
        var copy = self
        let value = try interpreter.deeper { () throws(ScriptFailure) in try copy.value() }
        self = copy
        return value
    }

    private mutating func string() throws(ScriptFailure) -> String {
        position += 1
        var units: [UInt16] = []
        var start = position
        func text(_ end: Int) -> String.UTF16View {
            String(decoding: bytes[start..<end], as: UTF8.self).utf16
        }
        while let byte = next, byte != UInt8(ascii: "\"") {
            guard byte >= 0x20 else { throw unexpected() }
            guard byte == UInt8(ascii: "\\") else {
                position += 1
                continue
            }
            units += text(position)
            position += 1
            units.append(try escape())
            start = position
        }
        units += text(position)
        guard take("\"") else { throw unexpected() }
        return String(decoding: units, as: UTF16.self)
    }

    private mutating func escape() throws(ScriptFailure) -> UInt16 {
        guard let byte = next else { throw unexpected() }
        let known: UInt16? =
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): UInt16(byte)
            case UInt8(ascii: "b"): 8
            case UInt8(ascii: "f"): 12
            case UInt8(ascii: "n"): 10
            case UInt8(ascii: "r"): 13
            case UInt8(ascii: "t"): 9
            default: nil
            }
        if let known {
            position += 1
            return known
        }
        guard byte == UInt8(ascii: "u") else { throw unexpected() }
        position += 1
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw unexpected()
            }
            unit = unit << 4 | UInt16(digit)
            position += 1
        }
        return unit
    }

    private mutating func number() throws(ScriptFailure) -> Double {
        let start = position
        _ = take("-")
        if !take("0") { try digits() }
        if take(".") { try digits() }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            try digits()
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        guard let number = Double(text) else { throw unexpected() }
        return number
    }

    private mutating func digits() throws(ScriptFailure) {
        let start = position
        while let byte = next, UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte { position += 1 }
        guard position > start else { throw unexpected() }
    }

    private mutating func word(
        _ word: String, _ value: ScriptValue
    ) throws(ScriptFailure) -> ScriptValue {
        for byte in word.utf8 {
            guard next == byte else { throw unexpected() }
            position += 1
        }
        return value
    }

    // MARK: Bytes

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func take(_ mark: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: mark) else { return false }
        position += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte = next, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { position += 1 }
    }

    private func unexpected() -> ScriptFailure {
        guard interpreter.options.keepsNumberTypes else {
            return interpreter.fail("SyntaxError", "JSON.parse: unexpected character")
        }
        guard position < bytes.count else {
            return interpreter.fail("SyntaxError", "Unexpected end of JSON input")
        }
        let rest = String(decoding: bytes[position...], as: UTF8.self)
        let found = rest.unicodeScalars.first.map(String.init) ?? ""
        return interpreter.fail(
            "SyntaxError", "Unexpected token '\(found)', \"\(text)\" is not valid JSON")
    }
}
