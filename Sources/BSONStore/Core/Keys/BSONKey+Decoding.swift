extension BSONKey {
    /// Returns the value of a key, to name a document whose bytes are damaged.
    ///
    /// Numbers are returned in the narrowest width that holds them. Returns `nil` for rare types of
    /// ids and for bytes that are not a key.
    package static func decode(_ key: [UInt8]) -> BSONValue? {
        guard let kind = key.first else { return nil }
        let payload = Array(key.dropFirst())
        switch kind {
        case 0x08: return .minKey
        case 0xF0: return .maxKey
        case 0x18: return .null
        case 0x20: return number(payload)
        case 0x28: return text(payload).map { .string($0) }
        case 0x40 where payload.count >= 5:
            return .binary(BSONBinary(Array(payload[5...]), subtype: payload[4]))
        case 0x48: return BSONObjectID(bytes: payload).map { .objectID($0) }
        case 0x50: return payload.first.map { .bool($0 != 0) }
        case 0x58:
            return bigEndian(payload).map {
                .datetime(BSONDatetime(milliseconds: Int64(bitPattern: $0) ^ .min))
            }
        default: return nil
        }
    }

    private static func number(_ payload: [UInt8]) -> BSONValue? {
        guard payload.count == 9, payload[8] == 0, let ordered = bigEndian(payload) else {
            return nil
        }
        guard ordered != 0 else { return .double(.nan) }
        let bits = ordered & (1 << 63) != 0 ? ordered & ~(1 << 63) : ~ordered
        let value = Double(bitPattern: bits)
        if let narrow = Int32(exactly: value) { return .int32(narrow) }
        return Int64(exactly: value).map { .int64($0) } ?? .double(value)
    }

    private static func text(_ payload: [UInt8]) -> String? {
        guard payload.count >= 2 else { return nil }
        var bytes: [UInt8] = []
        for byte in payload.dropLast(2) where byte != 0xFF { bytes.append(byte) }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func bigEndian(_ payload: [UInt8]) -> UInt64? {
        guard payload.count >= 8 else { return nil }
        return payload[..<8].reduce(0) { $0 << 8 | UInt64($1) }
    }
}
