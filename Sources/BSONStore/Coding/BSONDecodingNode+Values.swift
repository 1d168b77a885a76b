extension BSONDecodingNode {
    /// Reads a whole number of any width; `key` is only for errors.
    @inline(__always)
    func integer<T: FixedWidthInteger>(
        _ type: T.Type, _ raw: BSONRawValue, _ key: (any CodingKey)?
    ) throws -> T {
        switch raw.typeByte {
        case 0x10: if let value = T(exactly: raw.int32) { return value }
        case 0x12: if let value = T(exactly: raw.int64) { return value }
        default: return try unusualInteger(type, raw, key)
        }
        throw BSONDecodingError.lossy(type, raw, self, key)
    }

    @inline(never)
    private func unusualInteger<T: FixedWidthInteger>(
        _ type: T.Type, _ raw: BSONRawValue, _ key: (any CodingKey)?
    ) throws -> T {
        switch raw.typeByte {
        case 0x01: if let value = T(exactly: raw.double) { return value }
        case 0x13:
            if let whole = raw.decimal128.int64Value, let value = T(exactly: whole) { return value }
        default: throw BSONDecodingError.mismatch(type, raw, self, key)
        }
        throw BSONDecodingError.lossy(type, raw, self, key)
    }

    /// Reads a double, or a number that is one exactly.
    @inline(__always)
    func double(_ raw: BSONRawValue, _ key: (any CodingKey)?) throws -> Double {
        if raw.typeByte == 0x01 { return raw.double }
        return try unusualDouble(raw, key)
    }

    @inline(never)
    private func unusualDouble(
        _ raw: BSONRawValue, _ key: (any CodingKey)?
    ) throws -> Double {
        switch raw.typeByte {
        case 0x10: return Double(raw.int32)
        case 0x12: if let value = Double(exactly: raw.int64) { return value }
        case 0x13:
            let decimal = raw.decimal128
            let value = decimal.doubleValue
            if value.isNaN || BSONOrder.compare(.double(value), .decimal128(decimal)) == .equal {
                return value
            }
        default: throw BSONDecodingError.mismatch(Double.self, raw, self, key)
        }
        throw BSONDecodingError.lossy(Double.self, raw, self, key)
    }

    /// Reads a number that is a float exactly.
    func float(_ raw: BSONRawValue, _ key: (any CodingKey)?) throws -> Float {
        let value = try double(raw, key)
        if value.isNaN { return .nan }
        guard let float = Float(exactly: value) else {
            throw BSONDecodingError.lossy(Float.self, raw, self, key)
        }
        return float
    }

    @inline(__always)
    func bool(_ raw: BSONRawValue, _ key: (any CodingKey)?) throws -> Bool {
        guard raw.typeByte == 0x08 else {
            throw BSONDecodingError.mismatch(Bool.self, raw, self, key)
        }
        return raw.bool
    }

    /// Reads a string, or a symbol, its deprecated twin.
    @inline(__always)
    func string(_ raw: BSONRawValue, _ key: (any CodingKey)?) throws -> String {
        guard raw.typeByte == 0x02 || raw.typeByte == 0x0E else {
            throw BSONDecodingError.mismatch(String.self, raw, self, key)
        }
        return String(validUTF8: raw.text)
    }

    /// Whether a value stands for an absent optional.
    @inline(__always)
    static func isNil(_ raw: BSONRawValue) -> Bool {
        raw.typeByte == BSONType.null.rawValue || raw.typeByte == BSONType.undefined.rawValue
    }

    /// Reads an element: the coders' own types at once, others by themselves.
    @inline(__always)
    func element<T: Decodable>(
        _ type: T.Type, _ raw: BSONRawValue, _ key: any CodingKey
    ) throws -> T {
        if let kind = BSONNativeKind.of(type) { return try native(type, kind, raw, key) }
        return try type.init(from: BSONDecodingNode(context, raw, parent: self, key: key))
    }
}
