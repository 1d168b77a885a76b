/// A pointer to one value inside bytes that it does not retain.
///
/// It is only valid while the bytes are: inside ``BSONDocument/withCursor(_:)`` or while a database
/// row is current. The bytes must be a valid document; they are not checked again.
@frozen
public struct BSONRawValue {
    /// The type's byte on the wire.
    public let typeByte: UInt8
    /// The address of the value's bytes, behind type and key.
    public let start: UnsafeRawPointer
    /// The number of bytes of the value on the wire, 0 for null and similar types.
    public let count: Int

    /// Creates a pointer to a value of a known type and size.
    @inlinable
    public init(typeByte: UInt8, start: UnsafeRawPointer, count: Int) {
        self.typeByte = typeByte
        self.start = start
        self.count = count
    }

    /// The type; a valid document has no unknown types.
    @inlinable
    public var type: BSONType {
        // A full switch, so that the compiler merges it with the caller's own switch over the type.
        switch typeByte {
        case 0x01: .double
        case 0x02: .string
        case 0x03: .document
        case 0x04: .array
        case 0x05: .binary
        case 0x06: .undefined
        case 0x07: .objectID
        case 0x08: .bool
        case 0x09: .datetime
        case 0x0A: .null
        case 0x0B: .regularExpression
        case 0x0C: .dbPointer
        case 0x0D: .javascript
        case 0x0E: .symbol
        case 0x0F: .javascriptWithScope
        case 0x10: .int32
        case 0x11: .timestamp
        case 0x12: .int64
        case 0x13: .decimal128
        case 0xFF: .minKey
        case 0x7F: .maxKey
        default: preconditionFailure("A valid document holds no such type")
        }
    }

    /// The value's bytes on the wire: a whole document for documents and arrays, the length with
    /// the text for strings.
    @inlinable
    public var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }

    /// Reads four bytes as an int32; only for values of that type.
    @inlinable
    public var int32: Int32 { Int32(littleEndian: start.loadUnaligned(as: Int32.self)) }

    /// Reads eight bytes: an int64, the milliseconds of a datetime, the bits of a timestamp.
    @inlinable
    public var int64: Int64 { Int64(littleEndian: start.loadUnaligned(as: Int64.self)) }

    /// Reads eight bytes as a double; only for values of that type.
    @inlinable
    public var double: Double {
        Double(bitPattern: UInt64(littleEndian: start.loadUnaligned(as: UInt64.self)))
    }

    /// Reads one byte as a boolean; only for values of that type.
    @inlinable
    public var bool: Bool { start.load(as: UInt8.self) != 0 }

    /// Reads 16 bytes as a decimal; only for values of that type.
    @inlinable
    public var decimal128: BSONDecimal128 {
        BSONDecimal128(
            high: UInt64(littleEndian: start.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
            low: UInt64(littleEndian: start.loadUnaligned(as: UInt64.self)))
    }

    /// The UTF-8 of a string, symbol or code, without its NUL; only for values of those types.
    @inlinable
    public var text: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: start + 4, count: Int(int32) - 1)
    }

    /// The content of a binary, without the inner length of subtype 2; only for binaries.
    @inlinable
    public var binaryContent: UnsafeRawBufferPointer {
        let skipped = start.load(fromByteOffset: 4, as: UInt8.self) == 2 ? 9 : 5
        return UnsafeRawBufferPointer(start: start + skipped, count: count - skipped)
    }

    /// The subtype's byte; only for binaries.
    @inlinable
    public var binarySubtype: UInt8 { start.load(fromByteOffset: 4, as: UInt8.self) }

    /// The code and the scope of code with scope; only for values of that type.
    @inlinable
    public var codeAndScope: (code: UnsafeRawBufferPointer, scope: UnsafeRawBufferPointer) {
        let length = Int(
            Int32(littleEndian: start.loadUnaligned(fromByteOffset: 4, as: Int32.self)))
        return (
            UnsafeRawBufferPointer(start: start + 8, count: length - 1),
            UnsafeRawBufferPointer(start: start + 8 + length, count: count - 8 - length)
        )
    }
}

/// A pointer to one element, key and value, inside bytes that it does not retain.
@frozen
public struct BSONRawElement {
    /// The key's UTF-8, without its NUL.
    public let key: UnsafeRawBufferPointer
    /// The value behind the key.
    public let value: BSONRawValue

    /// Combines a key with a value.
    @inlinable
    public init(key: UnsafeRawBufferPointer, value: BSONRawValue) {
        self.key = key
        self.value = value
    }

    /// The bytes of type, key and value in the document.
    @inlinable
    var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            start: value.start - key.count - 2, count: key.count + 2 + value.count)
    }

    /// Whether type, key and value have the same bytes.
    @inlinable
    func isSame(as other: BSONRawElement) -> Bool {
        value.count == other.value.count && key.count == other.key.count
            && BSONCursor.isEqual(bytes, other.bytes)
    }

    /// Whether the element has this key.
    @inlinable
    package func hasKey(_ name: StaticString) -> Bool {
        key.count == name.utf8CodeUnitCount
            && BSONCursor.isEqual(
                key, UnsafeRawBufferPointer(start: name.utf8Start, count: key.count))
    }
}
