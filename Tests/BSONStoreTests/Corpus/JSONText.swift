import Foundation

/// Makes JSON texts comparable: no spaces outside of strings, one way of escaping.
enum JSONText {
    static func normal(_ text: String) -> String {
        var result = ""
        var rest = Substring(text)
        while let character = rest.unicodeScalars.first {
            if character == "\"" {
                result += string(&rest)
            } else {
                if !" \t\r\n".unicodeScalars.contains(character) {
                    result.unicodeScalars.append(character)
                }
                rest = Substring(rest.unicodeScalars.dropFirst())
            }
        }
        return result
    }

    /// Takes a string from the text and writes each UTF-16 unit outside of letters as an escape.
    private static func string(_ rest: inout Substring) -> String {
        var scalars = rest.unicodeScalars.dropFirst()
        var units: [UInt16] = []
        while let scalar = scalars.first, scalar != "\"" {
            scalars = scalars.dropFirst()
            guard scalar == "\\", let escape = scalars.first else {
                units += UTF16.encode(scalar).map(Array.init) ?? []
                continue
            }
            scalars = scalars.dropFirst()
            switch escape {
            case "b": units.append(8)
            case "f": units.append(12)
            case "n": units.append(10)
            case "r": units.append(13)
            case "t": units.append(9)
            case "u":
                let digits = String(String.UnicodeScalarView(scalars.prefix(4)))
                units.append(UInt16(digits, radix: 16) ?? 0)
                scalars = scalars.dropFirst(4)
            default: units.append(UInt16(escape.value))
            }
        }
        rest = Substring(scalars.dropFirst())
        let escaped = units.map { unit -> String in
            let isPlain = (0x20..<0x7F).contains(unit) && unit != 0x22 && unit != 0x5C
            return isPlain ? String(UnicodeScalar(UInt8(unit))) : "\\u\(String(unit, radix: 16))"
        }
        return "\"\(escaped.joined())\""
    }
}

/// Reads hexadecimal digits.
enum Hex {
    struct Malformed: Error { let text: String }

    static func bytes(_ text: String) throws -> [UInt8] {
        let digits = Array(text.utf8)
        guard digits.count % 2 == 0 else { throw Malformed(text: text) }
        return try stride(from: 0, to: digits.count, by: 2).map { index in
            let pair = String(decoding: digits[index..<index + 2], as: UTF8.self)
            guard let byte = UInt8(pair, radix: 16) else { throw Malformed(text: text) }
            return byte
        }
    }
}
