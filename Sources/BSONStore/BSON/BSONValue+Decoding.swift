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

    /// Decodes a value that lies in the bytes which a document lends; nested documents share them.
    init(
        _ value: borrowing BSONRawValue, sharing document: borrowing BSONDocument,
        at base: UnsafeRawPointer
    ) {
        switch value.type {
        case .double: self = .double(value.double)
        case .string: self = .string(String(validUTF8: value.text))
        case .document: self = .document(document.part(at: value.bytes, of: base))
        case .array: self = .array(BSONArray(document: document.part(at: value.bytes, of: base)))
        case .binary:
            self = .binary(
                BSONBinary(Array(value.binaryContent), subtype: value.binarySubtype))
        case .undefined: self = .undefined
        case .objectID: self = .objectID(value.objectID)
        case .bool: self = .bool(value.bool)
        case .datetime: self = .datetime(BSONDatetime(milliseconds: value.int64))
        case .null: self = .null
        case .regularExpression:
            let (pattern, options) = value.expressionParts
            self = .regularExpression(
                BSONRegularExpression(
                    String(validUTF8: pattern), options: String(validUTF8: options)))
        case .dbPointer:
            let id = BSONRawValue(
                typeByte: BSONType.objectID.rawValue, start: value.start + value.count - 12,
                count: 12)
            self = .dbPointer(
                BSONDBPointer(namespace: String(validUTF8: value.text), id: id.objectID))
        case .javascript: self = .javascript(String(validUTF8: value.text))
        case .symbol: self = .symbol(String(validUTF8: value.text))
        case .javascriptWithScope:
            let (code, scope) = value.codeAndScope
            self = .javascriptWithScope(
                BSONJavaScriptWithScope(code: String(validUTF8: code), scope: document.part(at: scope, of: base)))
        case .int32: self = .int32(value.int32)
        case .timestamp: self = .timestamp(value.timestamp)
        case .int64: self = .int64(value.int64)
        case .decimal128: self = .decimal128(value.decimal128)
        case .minKey: self = .minKey
        case .maxKey: self = .maxKey
        }
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

extension String {
    /// Copies bytes that are known to be UTF-8.
    @inline(__always)
    init(validUTF8 bytes: UnsafeRawBufferPointer) {
        #if os(Linux)
            // Checked when the document was; elsewhere this is newer than the systems we support.
            let span = Span<UInt8>(_unsafeBytes: bytes)
            self.init(
                copying: UTF8Span(unchecked: span, isKnownASCII: BSONUTF8.isASCII(bytes)))
        #else
            self.init(decoding: bytes.assumingMemoryBound(to: UInt8.self), as: UTF8.self)
        #endif
    }
}
