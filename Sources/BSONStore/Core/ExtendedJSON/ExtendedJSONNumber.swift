/// A number in JSON's grammar, read from bytes.
///
/// Source: RFC 8259, section 6; Extended JSON determines the types.
struct ExtendedJSONNumber {
    /// The value of a number, whole or not.
    enum Value {
        /// A number without fraction or exponent that fits 64 bits.
        case integer(Int64)
        /// Everything else.
        case double(Double)
        /// A number too large for a double.
        case overflow
    }

    let value: Value
    /// The number of bytes of the text.
    let count: Int

    /// Reads the longest number at the beginning of the bytes; `nil` if there is none.
    @inline(__always)
    init?(_ start: UnsafePointer<UInt8>, end: UnsafePointer<UInt8>) {
        var cursor = start
        let isNegative = cursor < end && cursor.pointee == UInt8(ascii: "-")
        if isNegative { cursor += 1 }
        var mantissa: UInt64 = 0
        let whole = cursor
        while cursor < end, ExtendedJSONCharacters.isDigit(cursor.pointee) {
            mantissa = mantissa &* 10 &+ UInt64(cursor.pointee &- UInt8(ascii: "0"))
            cursor += 1
        }
        var digits = cursor - whole
        guard digits > 0, digits == 1 || whole.pointee != UInt8(ascii: "0") else { return nil }
        let isPlain =
            cursor == end
            || (cursor.pointee != UInt8(ascii: ".") && cursor.pointee | 0x20 != UInt8(ascii: "e"))
        // Nineteen digits fit 64 bits without a sign; twenty never fit them with one.
        if isPlain, digits <= 19, let exact = Self.signed(mantissa, isNegative) {
            value = .integer(exact)
            count = cursor - start
            return
        }
        var exponent = 0
        if cursor < end, cursor.pointee == UInt8(ascii: ".") {
            cursor += 1
            let fraction = cursor
            while cursor < end, ExtendedJSONCharacters.isDigit(cursor.pointee) {
                mantissa = mantissa &* 10 &+ UInt64(cursor.pointee &- UInt8(ascii: "0"))
                cursor += 1
            }
            exponent = fraction - cursor
            guard exponent != 0 else { return nil }
            digits -= exponent
        }
        if cursor < end, cursor.pointee | 0x20 == UInt8(ascii: "e") {
            cursor += 1
            guard let shift = Self.exponent(&cursor, end) else { return nil }
            exponent += shift
        }
        count = cursor - start
        let quick =
            digits <= 19
            ? ExtendedJSONDouble.make(mantissa, exponent: exponent)
            : Self.shortened(start, count: cursor - start, exponent: exponent)
        if let quick {
            value = .double(isNegative ? -quick : quick)
        } else {
            value = Self.slowly(start, count: cursor - start)
        }
    }

    @inline(__always)
    private static func signed(_ magnitude: UInt64, _ isNegative: Bool) -> Int64? {
        guard magnitude <= UInt64(Int64.max) else {
            return isNegative && magnitude == 1 << 63 ? .min : nil
        }
        return isNegative ? -Int64(magnitude) : Int64(magnitude)
    }

    private static func exponent(
        _ cursor: inout UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>
    ) -> Int? {
        guard cursor < end else { return nil }
        let isNegative = cursor.pointee == UInt8(ascii: "-")
        if isNegative || cursor.pointee == UInt8(ascii: "+") { cursor += 1 }
        let first = cursor
        var value = 0
        while cursor < end, ExtendedJSONCharacters.isDigit(cursor.pointee) {
            if value < 100_000 { value = value * 10 + Int(cursor.pointee - UInt8(ascii: "0")) }
            cursor += 1
        }
        guard cursor > first else { return nil }
        return isNegative ? -value : value
    }

    /// Reads a number of more than 19 digits by its first ones, if the others do not matter: the
    /// numbers below and above have the same nearest double.
    @inline(never)
    private static func shortened(
        _ start: UnsafePointer<UInt8>, count: Int, exponent: Int
    ) -> Double? {
        var mantissa: UInt64 = 0
        var (kept, dropped) = (0, 0)
        var isExact = true
        for byte in UnsafeBufferPointer(start: start, count: count) {
            if byte | 0x20 == UInt8(ascii: "e") { break }
            guard ExtendedJSONCharacters.isDigit(byte) else { continue }
            if kept < 19 {
                mantissa = mantissa * 10 + UInt64(byte - UInt8(ascii: "0"))
                if mantissa > 0 { kept += 1 }
            } else {
                dropped += 1
                isExact = isExact && byte == UInt8(ascii: "0")
            }
        }
        let below = ExtendedJSONDouble.make(mantissa, exponent: exponent + dropped)
        if isExact { return below }
        let above = ExtendedJSONDouble.make(mantissa + 1, exponent: exponent + dropped)
        return below == above ? below : nil
    }

    /// Converts with the standard library, which is exact for any length.
    @inline(never)
    private static func slowly(_ start: UnsafePointer<UInt8>, count: Int) -> Value {
        let text = String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
        guard let value = Double(text), value.isFinite else { return .overflow }
        return .double(value)
    }
}
