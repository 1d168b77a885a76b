extension BSONDecodingNode {
    /// Reads a whole number of any width; `nil` if the type cannot hold it.
    @inline(__always)
    static func integer<T: FixedWidthInteger>(_ type: T.Type, _ raw: BSONRawValue) -> T? {
        switch raw.typeByte {
        case 0x10: T(exactly: raw.int32)
        case 0x12: T(exactly: raw.int64)
        default: convertedInteger(type, raw)
        }
    }

    @inline(never)
    private static func convertedInteger<T: FixedWidthInteger>(
        _ type: T.Type, _ raw: BSONRawValue
    ) -> T? {
        switch raw.typeByte {
        case 0x01: T(exactly: raw.double)
        case 0x13: raw.decimal128.int64Value.flatMap { T(exactly: $0) }
        default: nil
        }
    }

    /// Reads a double, or a number that a double represents exactly; `nil` for others.
    @inline(__always)
    static func double(_ raw: BSONRawValue) -> Double? {
        raw.typeByte == 0x01 ? raw.double : convertedDouble(raw)
    }

    @inline(never)
    private static func convertedDouble(_ raw: BSONRawValue) -> Double? {
        switch raw.typeByte {
        case 0x10: return Double(raw.int32)
        case 0x12: return Double(exactly: raw.int64)
        case 0x13:
            let decimal = raw.decimal128
            let value = decimal.doubleValue
            let isExact =
                value.isNaN || BSONOrder.compare(.double(value), .decimal128(decimal)) == .equal
            return isExact ? value : nil
        default: return nil
        }
    }

    /// Reads the float nearest to a double, or another number that a float represents exactly;
    /// `nil` for others.
    ///
    /// A double beyond the range of floats, or so small that only zero is left, is not read.
    static func float(_ raw: BSONRawValue) -> Float? {
        guard let value = double(raw) else { return nil }
        if value.isNaN { return .nan }
        guard raw.typeByte == BSONType.double.rawValue else { return Float(exactly: value) }
        let nearest = Float(value)
        guard nearest.isFinite == value.isFinite, nearest.isZero == value.isZero else { return nil }
        return nearest
    }

    @inline(__always)
    static func bool(_ raw: BSONRawValue) -> Bool? { raw.typeByte == 0x08 ? raw.bool : nil }

    /// Reads a string, or a symbol, its deprecated twin; `nil` for others.
    @inline(__always)
    static func string(_ raw: BSONRawValue) -> String? {
        raw.typeByte == 0x02 || raw.typeByte == 0x0E ? String(validUTF8: raw.text) : nil
    }

    /// Whether a value stands for an absent optional.
    @inline(__always)
    static func isNil(_ raw: BSONRawValue) -> Bool {
        raw.typeByte == BSONType.null.rawValue || raw.typeByte == BSONType.undefined.rawValue
    }

    /// Reads an element: the coders' own types directly, others by their own code.
    @inline(__always)
    func element<T: Decodable>(
        _ type: T.Type, from raw: BSONRawValue, key: some CodingKey
    ) throws -> T {
        if let kind = BSONNativeKind.of(type) {
            return try native(type, kind: kind, from: raw, key: key)
        }
        return try decode(type, from: raw, key: key)
    }

    /// Reads an element of a type with its own code, to which this node and the key are lent.
    @inline(__always)
    func decode<T: Decodable>(
        _ type: T.Type, from raw: BSONRawValue, key: some CodingKey
    ) throws -> T {
        try withUnsafePointer(to: key as any CodingKey) { key in
            try unmanagedContext._withUnsafeGuaranteedRef {
                try $0.decode(type, from: raw, parent: self, key: key)
            }
        }
    }
}
