/// The bytes of a document where they lie, without a copy: in a `BSONDocument` or in a database row.
///
/// A raw document is only valid while the bytes are. Except for ``UncheckedElements``, the readers
/// here trust that the bytes are a valid document.
struct RawDocument {
    let bytes: UnsafeRawBufferPointer

    @inline(__always)
    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// The fields, one after the other.
    var elements: BSONCursor {
        @inline(__always) get { BSONCursor(bytes) }
    }
}

/// A key of a document with its first byte, which differs from that of most other keys.
struct RawKey {
    let bytes: UnsafeRawBufferPointer
    let first: UInt8

    @inline(__always)
    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        first = bytes.count == 0 ? 0 : bytes[0]
    }
}

extension BSONRawValue {
    var isDocument: Bool {
        @inline(__always) get { typeByte == BSONType.document.rawValue }
    }

    var isArray: Bool {
        @inline(__always) get { typeByte == BSONType.array.rawValue }
    }

    /// The value as a document, if it is one or an array, whose elements are the fields "0", "1", ….
    var document: RawDocument {
        @inline(__always) get { RawDocument(bytes) }
    }
}

// MARK: - Types and their order

extension BSONRawValue {
    /// The place of the value's type in MongoDB's order, as ``BSONOrder/rank(_:)``.
    var rank: Int8 {
        switch typeByte {
        case 0x01, 0x10, 0x12, 0x13: 10
        case 0x02, 0x0E: 15
        case 0x03: 20
        case 0x04: 25
        case 0x05: 30
        case 0x06: 0
        case 0x07: 35
        case 0x08: 40
        case 0x09: 45
        case 0x0A: 5
        case 0x0B: 50
        case 0x0C: 55
        case 0x0D: 60
        case 0x0F: 65
        case 0x11: 47
        case 0xFF: -1
        default: 127
        }
    }

    static var nullRank: Int8 { 5 }
    static var numberRank: Int8 { 10 }
    static var undefinedRank: Int8 { 0 }
    static var minKeyRank: Int8 { -1 }
    static var maxKeyRank: Int8 { 127 }

    /// Whether the value is a number that is not a number.
    var isNaN: Bool {
        switch typeByte {
        case BSONType.double.rawValue: double.isNaN
        case BSONType.decimal128.rawValue: decimal128.kind == .nan
        default: false
        }
    }

    /// The number without its fraction; `nil` for other values and large numbers.
    var truncatedNumber: Int64? {
        switch typeByte {
        case BSONType.int32.rawValue: Int64(int32)
        case BSONType.int64.rawValue: int64
        case BSONType.double.rawValue: Int64(exactly: double.rounded(.towardZero))
        case BSONType.decimal128.rawValue: decimal128.truncated?.value
        default: nil
        }
    }
}

// MARK: - Bytes that may be damaged

/// The fields of a document whose bytes may be damaged, one after the other.
///
/// Any bytes are safe to read. A value may still be invalid inside; ``BSONRawValue/isCheckedScalar``
/// tells which is not.
struct UncheckedElements {
    private var position: UnsafeRawPointer
    private let end: UnsafeRawPointer
    /// Whether a length or a type was wrong; then no further field is read.
    private(set) var isDamaged: Bool

    /// Starts before the first field of bytes that must have an address.
    @inline(__always)
    init?(_ document: RawDocument) {
        let bytes = document.bytes
        guard let base = bytes.baseAddress, bytes.count >= 5,
            BSONCursor.int32(base) == bytes.count
        else { return nil }
        end = base + (bytes.count - 1)
        guard end.load(as: UInt8.self) == 0 else { return nil }
        position = base + 4
        isDamaged = false
    }

    @inline(__always)
    mutating func next() -> BSONRawElement? {
        guard position < end else { return nil }
        let key = position + 1
        let keyCount = BSONCursor.textCount(key, end)
        let start = key + (keyCount + 1)
        let typeByte = position.load(as: UInt8.self)
        guard start <= end, let size = Self.size(typeByte, start, end) else {
            isDamaged = true
            return nil
        }
        position = start + size
        return BSONRawElement(
            key: UnsafeRawBufferPointer(start: key, count: keyCount),
            value: BSONRawValue(typeByte: typeByte, start: start, count: size))
    }

    /// Returns the size of a value that ends before the document does; `nil` if it does not.
    @inline(__always)
    private static func size(
        _ typeByte: UInt8, _ start: UnsafeRawPointer, _ end: UnsafeRawPointer
    ) -> Int? {
        guard typeByte < 0x14, end - start >= 4 else { return rareSize(typeByte, start, end) }
        let size = Int(BSONCursor.sizes.utf8Start[Int(typeByte)])
        if size & 0x20 != 0 { return rareSize(typeByte, start, end) }
        let length = BSONCursor.int32(start) & (0 &- (size &>> 6))
        let whole = size & 0x1F &+ length
        return length >= 0 && whole <= end - start ? whole : nil
    }

    /// Returns the size of a value without a fixed size or a length, or of the last few bytes.
    @inline(never)
    private static func rareSize(
        _ typeByte: UInt8, _ start: UnsafeRawPointer, _ end: UnsafeRawPointer
    ) -> Int? {
        switch typeByte {
        case 0x06, 0x0A, 0x7F, 0xFF: return 0
        case 0x08: return end - start >= 1 ? 1 : nil
        case 0x0B:
            let pattern = BSONCursor.textCount(start, end) + 1
            guard pattern < end - start else { return nil }
            let whole = pattern + BSONCursor.textCount(start + pattern, end) + 1
            return whole <= end - start ? whole : nil
        default: return nil
        }
    }
}

extension BSONRawValue {
    /// Whether a value from ``UncheckedElements`` is a number, a text or the like, whose bytes are
    /// all that a test reads.
    var isCheckedScalar: Bool {
        @inline(__always) get {
            switch typeByte {
            case 0x01, 0x06...0x0A, 0x10...0x13, 0x7F, 0xFF: true
            case 0x02: count >= 5 && start.load(fromByteOffset: count - 1, as: UInt8.self) == 0
            default: false
            }
        }
    }
}

extension BSONValidator {
    /// Whether the bytes are exactly one document.
    package static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
        do throws(BSONError) {
            try validate(bytes)
            return true
        } catch {
            return false
        }
    }
}
