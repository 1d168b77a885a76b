/// Cuts texts as scripts do, which count in UTF-16.
enum ScriptText {
    static func trimmed(_ text: String, start: Bool = true, end: Bool = true) -> String {
        var scalars = text.unicodeScalars[...]
        func isSpace(_ scalar: Unicode.Scalar?) -> Bool {
            scalar.map { $0.properties.isWhitespace || $0 == "\u{FEFF}" } ?? false
        }
        while start, isSpace(scalars.first) { scalars.removeFirst() }
        while end, isSpace(scalars.last) { scalars.removeLast() }
        return String(scalars)
    }

    static func string(_ units: some Collection<UInt16>) -> String {
        String(decoding: units, as: UTF16.self)
    }

    /// One unit as a text, `undefined` beyond the end.
    static func character(_ text: String, _ index: Int?) -> ScriptValue {
        let units = text.utf16
        guard let index, 0..<units.count ~= index else { return .undefined }
        return .string(string([units[units.index(units.startIndex, offsetBy: index)]]))
    }

    /// A place that counts from the end when it is negative, between 0 and a count.
    static func place(_ value: ScriptValue?, count: Int, otherwise: Int) -> Int {
        guard let value, !isUndefined(value) else { return otherwise }
        let index = value.integer
        return index < 0 ? max(0, count + index) : min(index, count)
    }

    static func isUndefined(_ value: ScriptValue) -> Bool {
        if case .undefined = value { true } else { false }
    }

    /// What `parseInt` reads.
    static func whole(_ text: String, _ arguments: [ScriptValue]) -> Double {
        var digits = trimmed(text)[...]
        let isNegative = digits.hasPrefix("-")
        if isNegative || digits.hasPrefix("+") { digits.removeFirst() }
        var radix = arguments.count > 1 ? arguments[1].integer : 0
        if radix == 0 || radix == 16, digits.hasPrefix("0x") || digits.hasPrefix("0X") {
            digits = digits.dropFirst(2)
            radix = 16
        }
        if radix == 0 { radix = 10 }
        guard 2...36 ~= radix else { return .nan }
        var value = 0.0
        var isAny = false
        for character in digits {
            guard character.isASCII, let digit = Int(String(character), radix: radix) else { break }
            value = value * Double(radix) + Double(digit)
            isAny = true
        }
        return isAny ? (isNegative ? -value : value) : .nan
    }

    /// What `parseFloat` reads.
    static func leadingNumber(_ text: String) -> Double {
        let text = trimmed(text)
        for word in ["Infinity", "+Infinity", "-Infinity"] where text.hasPrefix(word) {
            return word == "-Infinity" ? -.infinity : .infinity
        }
        var prefix = String(text.prefix { "+-.eE0123456789".contains($0) })
        while !prefix.isEmpty {
            let value = ScriptNumber.value(of: prefix)
            if !value.isNaN { return value }
            prefix.removeLast()
        }
        return .nan
    }
}
