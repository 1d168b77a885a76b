import BSONQuery
#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// The conversion of numbers to texts and back as in ECMAScript.
enum ScriptNumber {
    static func value(of text: String) -> Double {
        let trimmed = ScriptString.trimmed(text)
        if trimmed.isEmpty { return 0 }
        if ["0x", "0o", "0b"].contains(trimmed.prefix(2).lowercased()) {
            return ScriptBigInt(text: trimmed)?.double ?? .nan
        }
        switch trimmed {
        case "Infinity", "+Infinity": return .infinity
        case "-Infinity": return -.infinity
        default: break
        }
        // Other words for infinity and NaN, and hexadecimal fractions, are not numbers here.
        let allowed = trimmed.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "e"),
                UInt8(ascii: "E"), UInt8(ascii: "+"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard allowed else { return .nan }
        return Double(trimmed) ?? Double("0" + trimmed) ?? Double(trimmed + "0") ?? .nan
    }

    /// Returns the shortest digits that stand for the number, as ECMAScript writes it.
    static func text(_ number: Double) -> String {
        if number.isNaN { return "NaN" }
        if number.isInfinite { return number < 0 ? "-Infinity" : "Infinity" }
        if number == 0 { return "0" }
        if number < 0 { return "-" + text(-number) }
        let (digits, point) = shortest(number)
        if (digits.count...21).contains(point) {
            return digits + String(repeating: "0", count: point - digits.count)
        }
        if 1...21 ~= point { return digits.prefix(point) + "." + digits.dropFirst(point) }
        if -5...0 ~= point { return "0." + String(repeating: "0", count: -point) + digits }
        let fraction = digits.count > 1 ? "." + digits.dropFirst() : ""
        return digits.prefix(1) + fraction + "e" + (point > 0 ? "+" : "-")
            + String(abs(point - 1))
    }

    /// Returns the shortest digits, and the number of those before the point.
    static func shortest(_ number: Double) -> (digits: String, point: Int) {
        let parts = number.description.lowercased().split(separator: "e")
        let decimal = parts[0].split(separator: ".", omittingEmptySubsequences: false)
        let exponent = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
        let fraction = decimal.count > 1 ? decimal[1] : ""
        var digits = Substring(decimal[0] + fraction)
        var point = decimal[0].count + exponent
        while digits.hasBytePrefix("0"), digits.count > 1 {
            digits.removeFirst()
            point -= 1
        }
        while digits.hasByteSuffix("0"), digits.count > 1 { digits.removeLast() }
        return (String(digits), point)
    }

    /// Returns the digits of a number in another base, without its fraction.
    static func text(_ number: Double, radix: Int) -> String {
        guard radix != 10, 2...36 ~= radix, let whole = Int64(exactly: number.rounded(.towardZero))
        else { return text(number) }
        return String(whole, radix: radix)
    }

    /// Returns a number with a number of digits behind the point.
    static func fixed(_ number: Double, digits: Int) -> String {
        formatted("%.\(digits)f", number)
    }

    /// Returns a number with a total number of digits.
    static func precise(_ number: Double, digits: Int) -> String {
        guard number != 0 else {
            return digits > 1 ? "0." + String(repeating: "0", count: digits - 1) : "0"
        }
        let exponent = Int(log10(abs(number)).rounded(.down))
        guard -7...digits - 1 ~= exponent else {
            return formatted("%.\(digits - 1)e", number)
        }
        return formatted("%.\(max(0, digits - 1 - exponent))f", number)
    }

    private static func formatted(_ format: String, _ number: Double) -> String {
        var buffer = [CChar](repeating: 0, count: 512)
        let count = withVaList([number]) { vsnprintf(&buffer, buffer.count, format, $0) }
        return String(decoding: buffer.prefix(max(0, Int(count))).map(UInt8.init), as: UTF8.self)
    }
}
