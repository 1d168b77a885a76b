extension BSONDocument {
    /// Decodes the element that begins at an offset; `nil` at the terminator.
    func element(
        at offset: Int, in bytes: UnsafeRawBufferPointer
    ) -> (key: String, value: BSONValue, end: Int)? {
        guard let type = BSONType(rawValue: bytes[offset]) else { return nil }
        var cursor = offset + 1
        let key = Self.cString(bytes, &cursor)
        let value = value(of: type, in: bytes, &cursor)
        return (key, value, cursor)
    }

    private func value(
        of type: BSONType, in bytes: UnsafeRawBufferPointer, _ cursor: inout Int
    ) -> BSONValue {
        switch type {
        case .double: return .double(Double(bitPattern: Self.load(bytes, &cursor)))
        case .string: return .string(Self.string(bytes, &cursor))
        case .document: return .document(nested(bytes, &cursor))
        case .array: return .array(BSONArray(document: nested(bytes, &cursor)))
        case .binary:
            let count: Int32 = Self.load(bytes, &cursor)
            let subtype = bytes[cursor]
            var from = cursor + 1
            cursor = from + Int(count)
            if subtype == 2 { from += 4 }
            return .binary(BSONBinary(Array(bytes[from..<cursor]), subtype: subtype))
        case .undefined: return .undefined
        case .objectID: return .objectID(Self.objectID(bytes, &cursor))
        case .bool:
            cursor += 1
            return .bool(bytes[cursor - 1] != 0)
        case .datetime:
            return .datetime(BSONDatetime(milliseconds: Self.load(bytes, &cursor)))
        case .null: return .null
        case .regularExpression:
            let pattern = Self.cString(bytes, &cursor)
            return .regularExpression(
                BSONRegularExpression(pattern, options: Self.cString(bytes, &cursor)))
        case .dbPointer:
            let namespace = Self.string(bytes, &cursor)
            return .dbPointer(
                BSONDBPointer(namespace: namespace, id: Self.objectID(bytes, &cursor)))
        case .javascript: return .javascript(Self.string(bytes, &cursor))
        case .symbol: return .symbol(Self.string(bytes, &cursor))
        case .javascriptWithScope:
            cursor += 4
            let code = Self.string(bytes, &cursor)
            return .javascriptWithScope(
                BSONJavaScriptWithScope(code: code, scope: nested(bytes, &cursor)))
        case .int32: return .int32(Self.load(bytes, &cursor))
        case .timestamp:
            let raw: UInt64 = Self.load(bytes, &cursor)
            return .timestamp(
                BSONTimestamp(
                    seconds: UInt32(truncatingIfNeeded: raw >> 32),
                    increment: UInt32(truncatingIfNeeded: raw)))
        case .int64: return .int64(Self.load(bytes, &cursor))
        case .decimal128:
            let low: UInt64 = Self.load(bytes, &cursor)
            return .decimal128(BSONDecimal128(high: Self.load(bytes, &cursor), low: low))
        case .minKey: return .minKey
        case .maxKey: return .maxKey
        }
    }

    private static func load<T: FixedWidthInteger>(
        _ bytes: UnsafeRawBufferPointer, _ cursor: inout Int
    ) -> T {
        defer { cursor += MemoryLayout<T>.size }
        return T(littleEndian: bytes.loadUnaligned(fromByteOffset: cursor, as: T.self))
    }

    private static func cString(_ bytes: UnsafeRawBufferPointer, _ cursor: inout Int) -> String {
        let from = cursor
        while bytes[cursor] != 0 { cursor += 1 }
        defer { cursor += 1 }
        return String(decoding: bytes[from..<cursor], as: UTF8.self)
    }

    private static func string(_ bytes: UnsafeRawBufferPointer, _ cursor: inout Int) -> String {
        let count: Int32 = load(bytes, &cursor)
        defer { cursor += Int(count) }
        return String(decoding: bytes[cursor..<cursor + Int(count) - 1], as: UTF8.self)
    }

    private static func objectID(
        _ bytes: UnsafeRawBufferPointer, _ cursor: inout Int
    ) -> BSONObjectID {
        let high = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: cursor, as: UInt64.self))
        let low = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: cursor + 8, as: UInt32.self))
        cursor += 12
        return BSONObjectID(bigEndianHigh: high, low: low)
    }
}
