extension BSONValue {
    /// Decodes a value in place; nested documents copy their bytes.
    public init(copying value: BSONRawValue) {
        switch value.typeByte {
        case BSONType.document.rawValue, BSONType.array.rawValue,
            BSONType.javascriptWithScope.rawValue:
            let owner = BSONDocument(unchecked: Array(value.bytes))
            self = owner.withUnsafeBytes { bytes in
                let base = BSONCursor.base(bytes)
                return BSONValue(
                    BSONRawValue(typeByte: value.typeByte, start: base, count: value.count),
                    sharing: owner, at: base)
            }
        default: self.init(value, sharing: BSONDocument(), at: value.start)
        }
    }

    /// Decodes a value inside the bytes that a document lends; nested documents share them.
    package init(
        _ value: borrowing BSONRawValue, sharing document: borrowing BSONDocument,
        at base: UnsafeRawPointer
    ) {
        var end = value.start
        self = Self.decode(
            value.typeByte, &end, value.start + value.count, in: document, at: base)
    }

    /// Decodes the value at an address of the bytes that a document lends, and steps over it.
    ///
    /// One switch over the type yields both size and value: mispredicted branches are the main cost
    /// of reading values.
    @inline(__always)
    static func decode(
        _ typeByte: UInt8, _ at: inout UnsafeRawPointer, _ limit: UnsafeRawPointer,
        in document: borrowing BSONDocument, at base: UnsafeRawPointer
    ) -> BSONValue {
        let start = at
        switch typeByte {
        case 0x01:
            at = start + 8
            return .double(Double(bitPattern: Self.load(start)))
        case 0x02: return .string(Self.text(&at))
        case 0x03: return .document(nested(&at, document, base))
        case 0x04: return .array(BSONArray(document: nested(&at, document, base)))
        case 0x05: return .binary(Self.binary(&at))
        case 0x06: return .undefined
        case 0x07: return .objectID(Self.objectID(&at))
        case 0x08:
            at = start + 1
            return .bool(start.load(as: UInt8.self) != 0)
        case 0x09:
            at = start + 8
            return .datetime(BSONDatetime(milliseconds: Self.load(start)))
        case 0x0A: return .null
        case 0x0B: return .regularExpression(Self.expression(&at, limit))
        case 0x0C:
            let namespace = Self.text(&at)
            return .dbPointer(BSONDBPointer(namespace: namespace, id: Self.objectID(&at)))
        case 0x0D: return .javascript(Self.text(&at))
        case 0x0E: return .symbol(Self.text(&at))
        case 0x0F:
            at = start + 4
            let code = Self.text(&at)
            return .javascriptWithScope(
                BSONJavaScriptWithScope(code: code, scope: nested(&at, document, base)))
        case 0x10:
            at = start + 4
            return .int32(Self.load(start))
        case 0x11:
            at = start + 8
            return .timestamp(
                BSONTimestamp(seconds: Self.load(start + 4), increment: Self.load(start)))
        case 0x12:
            at = start + 8
            return .int64(Self.load(start))
        case 0x13:
            at = start + 16
            return .decimal128(BSONDecimal128(high: Self.load(start + 8), low: Self.load(start)))
        case 0xFF: return .minKey
        case 0x7F: return .maxKey
        default: preconditionFailure("A valid document holds no such type")
        }
    }

    @inline(__always)
    private static func load<T: FixedWidthInteger & BitwiseCopyable>(
        _ at: UnsafeRawPointer
    ) -> T {
        T(littleEndian: at.loadUnaligned(as: T.self))
    }

    @inline(__always)
    private static func text(_ at: inout UnsafeRawPointer) -> String {
        let count = BSONCursor.int32(at)
        let text = UnsafeRawBufferPointer(start: at + 4, count: count - 1)
        at += 4 + count
        return String(validUTF8: text)
    }

    @inline(__always)
    private static func nested(
        _ at: inout UnsafeRawPointer, _ document: borrowing BSONDocument,
        _ base: UnsafeRawPointer
    ) -> BSONDocument {
        let count = BSONCursor.int32(at)
        let bytes = UnsafeRawBufferPointer(start: at, count: count)
        at += count
        return document.part(at: bytes, of: base)
    }

    private static func binary(_ at: inout UnsafeRawPointer) -> BSONBinary {
        let count = BSONCursor.int32(at)
        let value = BSONRawValue(
            typeByte: BSONType.binary.rawValue, start: at, count: 5 + count)
        at += 5 + count
        return BSONBinary(Array(value.binaryContent), subtype: value.binarySubtype)
    }

    private static func objectID(_ at: inout UnsafeRawPointer) -> BSONObjectID {
        defer { at += 12 }
        return BSONRawValue(typeByte: BSONType.objectID.rawValue, start: at, count: 12).objectID
    }

    private static func expression(
        _ at: inout UnsafeRawPointer, _ limit: UnsafeRawPointer
    ) -> BSONRegularExpression {
        let pattern = UnsafeRawBufferPointer(start: at, count: BSONCursor.textCount(at, limit))
        at += pattern.count + 1
        let options = UnsafeRawBufferPointer(start: at, count: BSONCursor.textCount(at, limit))
        at += options.count + 1
        return BSONRegularExpression(
            decoded: String(validUTF8: pattern), options: String(validUTF8: options))
    }
}

extension BSONRawValue {
    /// Reads 12 bytes as an ObjectId; only for values of that type.
    public var objectID: BSONObjectID {
        BSONObjectID(
            bigEndianHigh: UInt64(bigEndian: start.loadUnaligned(as: UInt64.self)),
            low: UInt32(bigEndian: start.loadUnaligned(fromByteOffset: 8, as: UInt32.self)))
    }

    /// Reads 8 bytes as a timestamp; only for values of that type.
    public var timestamp: BSONTimestamp {
        let raw = UInt64(bitPattern: int64)
        return BSONTimestamp(
            seconds: UInt32(truncatingIfNeeded: raw >> 32),
            increment: UInt32(truncatingIfNeeded: raw))
    }
}
