extension ExtendedJSONWriter {
    /// Writes a value of fixed size; needs 128 reserved.
    @inline(__always)
    mutating func writeFixed(
        _ type: BSONType, _ cursor: UnsafePointer<UInt8>
    ) -> UnsafePointer<UInt8> {
        switch type {
        case .double:
            putDouble(Double(bitPattern: Self.load(cursor, as: UInt64.self)))
            return cursor + 8
        case .string, .document, .array, .binary, .regularExpression, .dbPointer, .javascript,
            .symbol, .javascriptWithScope:
            preconditionFailure("Values of this type have no fixed size.")
        case .undefined: out.put("{\"$undefined\":true}")
        case .objectID:
            out.put("{\"$oid\":\"")
            for index in 0..<12 { putHex(cursor[index]) }
            out.put("\"}")
            return cursor + 12
        case .bool:
            if cursor.pointee == 0 { out.put("false") } else { out.put("true") }
            return cursor + 1
        case .datetime:
            putDatetime(Self.load(cursor, as: Int64.self))
            return cursor + 8
        case .null: out.put("null")
        case .int32:
            if !isRelaxed { out.put("{\"$numberInt\":\"") }
            putInteger(Int64(Self.load(cursor, as: Int32.self)))
            if !isRelaxed { out.put("\"}") }
            return cursor + 4
        case .timestamp:
            out.put("{\"$timestamp\":{\"t\":")
            putInteger(Int64(Self.load(cursor + 4, as: UInt32.self)))
            out.put(",\"i\":")
            putInteger(Int64(Self.load(cursor, as: UInt32.self)))
            out.put("}}")
            return cursor + 8
        case .int64:
            if isRelaxed {
                putInteger(Self.load(cursor, as: Int64.self))
            } else {
                putWrappedLong(Self.load(cursor, as: Int64.self))
            }
            return cursor + 8
        case .decimal128:
            let low = Self.load(cursor, as: UInt64.self)
            putDecimal(BSONDecimal128(high: Self.load(cursor + 8, as: UInt64.self), low: low))
            return cursor + 16
        case .minKey: out.put("{\"$minKey\":1}")
        case .maxKey: out.put("{\"$maxKey\":1}")
        }
        return cursor
    }

    private mutating func putWrappedLong(_ value: Int64) {
        out.put("{\"$numberLong\":\"")
        putInteger(value)
        out.put("\"}")
    }

    @inline(__always)
    private mutating func putInteger(_ value: Int64) {
        if value < 0 { out.put(UInt8(ascii: "-")) }
        var rest = value.magnitude
        var count = 1
        var bound: UInt64 = 10
        while rest >= bound {
            count += 1
            if count == 20 { break }
            bound &*= 10
        }
        var index = out.count + count
        out.count = index
        repeat {
            index -= 1
            out.base[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest != 0
    }

    private mutating func putDecimal(_ value: BSONDecimal128) {
        out.put("{\"$numberDecimal\":\"")
        out.count += value.writeText(to: out.tail)
        out.put("\"}")
    }

    /// Writes the shortest text that reads back as the same double, with `E` before an exponent.
    private mutating func putDouble(_ value: Double) {
        guard value.isFinite else {
            let text: StaticString =
                value.isNaN ? "NaN" : value < 0 ? "-Infinity" : "Infinity"
            out.put("{\"$numberDouble\":\"")
            out.put(text)
            out.put("\"}")
            return
        }
        if !isRelaxed { out.put("{\"$numberDouble\":\"") }
        var digits = ExtendedJSONDigitBuffer(destination: out.tail)
        value.write(to: &digits)
        out.count += digits.count
        if !isRelaxed { out.put("\"}") }
    }

    private mutating func putDatetime(_ milliseconds: Int64) {
        out.put("{\"$date\":")
        if isRelaxed, ExtendedJSONDate.textRange.contains(milliseconds) {
            out.put(UInt8(ascii: "\""))
            putDateText(milliseconds)
            out.put(UInt8(ascii: "\""))
        } else {
            putWrappedLong(milliseconds)
        }
        out.put(UInt8(ascii: "}"))
    }

    private mutating func putDateText(_ milliseconds: Int64) {
        let date = ExtendedJSONDate(milliseconds: milliseconds)
        putPadded(date.year, width: 4)
        out.put(UInt8(ascii: "-"))
        putPadded(date.month, width: 2)
        out.put(UInt8(ascii: "-"))
        putPadded(date.day, width: 2)
        out.put(UInt8(ascii: "T"))
        putPadded(date.hour, width: 2)
        out.put(UInt8(ascii: ":"))
        putPadded(date.minute, width: 2)
        out.put(UInt8(ascii: ":"))
        putPadded(date.second, width: 2)
        if date.millisecond != 0 {
            out.put(UInt8(ascii: "."))
            putPadded(date.millisecond, width: 3)
        }
        out.put(UInt8(ascii: "Z"))
    }

    private mutating func putPadded(_ value: Int, width: Int) {
        var rest = value
        for index in stride(from: width - 1, through: 0, by: -1) {
            out.tail[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        out.count += width
    }
}

/// A text stream that receives a double's digits in raw memory, without a `String` in between.
struct ExtendedJSONDigitBuffer: TextOutputStream {
    private let destination: UnsafeMutablePointer<UInt8>
    private(set) var count = 0

    /// Creates a stream with its destination; 64 bytes are enough for any double.
    init(destination: UnsafeMutablePointer<UInt8>) { self.destination = destination }

    mutating func write(_ string: String) {
        for byte in string.utf8 { put(byte) }
    }

    /// The standard library's hook for ASCII text; if it is ever removed, `write` is called
    /// instead.
    // swift-format-ignore: NoLeadingUnderscores
    mutating func _writeASCII(_ buffer: UnsafeBufferPointer<UInt8>) {
        for byte in buffer { put(byte) }
    }

    private mutating func put(_ byte: UInt8) {
        destination[count] = byte == UInt8(ascii: "e") ? UInt8(ascii: "E") : byte
        count += 1
    }
}
