/// Holds what all decoders of one document share.
final class BSONDecodingContext {
    let decoder: BSONDecoder
    let document: BSONDocument
    let base: UnsafeRawPointer
    let hasDefaultKeys: Bool

    /// Takes a document that lends its bytes at `base` for the whole decoding.
    init(_ decoder: BSONDecoder, _ document: BSONDocument, _ base: UnsafeRawPointer) {
        self.decoder = decoder
        self.document = document
        self.base = base
        hasDefaultKeys = decoder.strategies.keys.isDefault
    }

    func value(_ raw: BSONRawValue) -> BSONValue {
        BSONValue(raw, sharing: document, at: base)
    }
}

/// Is the `Decoder` of one value in place.
///
/// Types ask for their keys in the order of their declaration, which is mostly the order of the
/// document: a search begins where the last one ended, and goes around once.
final class BSONDecodingNode: Decoder {
    let context: BSONDecodingContext
    let parent: BSONDecodingNode?
    let key: (any CodingKey)?
    let raw: BSONRawValue
    /// Where the next search begins.
    @exclusivity(unchecked) private var hint: UnsafeRawPointer
    /// The marks of all keys, once a search went all around; 0 before.
    @exclusivity(unchecked) private var seenKeys: UInt64 = 0
    /// Behind the last element.
    private let end: UnsafeRawPointer

    init(
        _ context: BSONDecodingContext, _ raw: BSONRawValue, parent: BSONDecodingNode? = nil,
        key: (any CodingKey)? = nil
    ) {
        self.context = context
        self.raw = raw
        self.parent = parent
        self.key = key
        hint = raw.start + 4
        end = raw.start + max(raw.count - 1, 4)
    }

    var codingPath: [any CodingKey] {
        (parent?.codingPath ?? []) + (key.map { [$0] } ?? [])
    }

    var userInfo: [CodingUserInfoKey: Any] { context.decoder.userInfo }

    func container<Key: CodingKey>(
        keyedBy type: Key.Type
    ) throws -> KeyedDecodingContainer<Key> {
        guard raw.typeByte == BSONType.document.rawValue else {
            throw BSONDecodingError.mismatch([String: BSONValue].self, raw, self)
        }
        return KeyedDecodingContainer(BSONKeyedDecodingContainer<Key>(node: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard raw.typeByte == BSONType.array.rawValue else {
            throw BSONDecodingError.mismatch([BSONValue].self, raw, self)
        }
        return BSONUnkeyedDecodingContainer(node: self)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    /// Finds the value of a key of the document that this is.
    @inline(__always)
    func find(_ key: String) -> BSONRawValue? {
        var key = context.hasDefaultKeys ? key : context.decoder.strategies.keys.documentKey(key)
        return key.withUTF8 { wanted in
            if hint < end, BSONCursor.textCount(hint + 1, end) == wanted.count,
                Self.isKey(hint + 1, wanted)
            {
                let start = hint + 2 + wanted.count
                let typeByte = hint.load(as: UInt8.self)
                let count = BSONCursor.valueCount(typeByte, start, end)
                hint = start + count
                return BSONRawValue(typeByte: typeByte, start: start, count: count)
            }
            return search(UnsafeRawBufferPointer(wanted))
        }
    }

    /// Whether as many bytes of a key are the wanted ones; the last are compared overlapping.
    @inline(__always)
    private static func isKey(
        _ start: UnsafeRawPointer, _ wanted: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        let count = wanted.count
        guard let other = UnsafeRawBufferPointer(wanted).baseAddress else { return true }
        @inline(__always)
        func equal<T: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, _: T.Type) -> Bool {
            start.loadUnaligned(fromByteOffset: offset, as: T.self)
                == other.loadUnaligned(fromByteOffset: offset, as: T.self)
        }
        if count >= 8 {
            var offset = 0
            while offset + 8 <= count {
                guard equal(offset, UInt64.self) else { return false }
                offset += 8
            }
            return equal(count - 8, UInt64.self)
        }
        if count >= 4 { return equal(0, UInt32.self) && equal(count - 4, UInt32.self) }
        if count >= 2 { return equal(0, UInt16.self) && equal(count - 2, UInt16.self) }
        return count == 0 || equal(0, UInt8.self)
    }

    /// Looks at the elements behind the hint, then at those before it.
    @inline(never)
    private func search(_ wanted: UnsafeRawBufferPointer) -> BSONRawValue? {
        // Keys that are nowhere would cost a walk each: most are told by what the first one saw.
        if seenKeys != 0, seenKeys & Self.mark(wanted) == 0 { return nil }
        var seen: UInt64 = 0
        var cursor = BSONCursor(raw.bytes, offset: hint - raw.start)
        let stop = hint
        for _ in 0..<2 {
            while let element = cursor.next() {
                if element.key.count == wanted.count, BSONCursor.isEqual(element.key, wanted) {
                    hint = cursor.position
                    return element.value
                }
                seen |= Self.mark(element.key)
                if cursor.position == stop { break }
            }
            cursor = BSONCursor(raw.bytes)
            if cursor.position == stop { break }
        }
        seenKeys = seen | 1
        return nil
    }

    /// One of 64 bits for a key; equal keys have equal marks.
    @inline(__always)
    private static func mark(_ key: UnsafeRawBufferPointer) -> UInt64 {
        guard let first = key.first, let last = key.last else { return 1 }
        let mixed = key.count &* 29 &+ Int(first) &* 7 &+ Int(last)
        return 1 << UInt64(truncatingIfNeeded: mixed & 63)
    }
}

/// Makes the errors of decoding, with the coding path.
enum BSONDecodingError {
    static func mismatch(
        _ type: any Any.Type, _ raw: BSONRawValue, _ node: BSONDecodingNode,
        _ key: (any CodingKey)? = nil
    ) -> DecodingError {
        if raw.typeByte == BSONType.null.rawValue || raw.typeByte == BSONType.undefined.rawValue {
            return .valueNotFound(type, context(node, key, "Here is \(raw.type)."))
        }
        return .typeMismatch(type, context(node, key, "Here is a value of type \(raw.type)."))
    }

    /// The error for a value that a type cannot take: a loss for numbers, else a wrong type.
    static func refused(
        _ type: any Any.Type, _ raw: BSONRawValue, _ node: BSONDecodingNode,
        _ key: (any CodingKey)?
    ) -> DecodingError {
        switch raw.type {
        case .double, .int32, .int64, .decimal128:
            type == Bool.self || type == String.self
                ? mismatch(type, raw, node, key) : lossy(type, raw, node, key)
        case .string, .document, .array, .binary, .undefined, .objectID, .bool, .datetime, .null,
            .regularExpression, .dbPointer, .javascript, .symbol, .javascriptWithScope,
            .timestamp, .minKey, .maxKey:
            mismatch(type, raw, node, key)
        }
    }

    static func lossy(
        _ type: any Any.Type, _ raw: BSONRawValue, _ node: BSONDecodingNode,
        _ key: (any CodingKey)?
    ) -> DecodingError {
        let value = BSONValue(copying: raw).extendedJSON(.relaxed)
        return .dataCorrupted(context(node, key, "\(type) cannot hold \(value) without loss."))
    }

    static func corrupted(
        _ message: String, _ node: BSONDecodingNode, _ key: (any CodingKey)?
    ) -> DecodingError { .dataCorrupted(context(node, key, message)) }

    static func missing(_ node: BSONDecodingNode, _ key: any CodingKey) -> DecodingError {
        .keyNotFound(
            key, context(node, nil, "The document has no key \"\(key.stringValue)\"."))
    }

    private static func context(
        _ node: BSONDecodingNode, _ key: (any CodingKey)?, _ message: String
    ) -> DecodingError.Context {
        DecodingError.Context(
            codingPath: node.codingPath + (key.map { [$0] } ?? []), debugDescription: message)
    }
}
