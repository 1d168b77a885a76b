/// A hash of 128 bits of a document's content that ignores the order of fields.
///
/// Types and bit patterns matter: int32 `1` and int64 `1` differ. The order of array values
/// matters; the order of fields does not, at any depth. The hash is stable across runs, versions
/// and platforms, so it may be stored. It detects accidental differences, not malicious ones.
public struct BSONContentHash: Sendable, Hashable {
    /// The first 64 bits.
    let first: UInt64
    /// The last 64 bits.
    let second: UInt64

    init(_ first: UInt64, _ second: UInt64) {
        self.first = first
        self.second = second
    }

    /// Creates a hash from the 16 bytes of ``bytes``; `nil` for another count.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        var words: (UInt64, UInt64) = (0, 0)
        for (index, byte) in bytes.enumerated() {
            if index < 8 {
                words.0 = words.0 << 8 | UInt64(byte)
            } else {
                words.1 = words.1 << 8 | UInt64(byte)
            }
        }
        self.init(words.0, words.1)
    }

    /// The 16 bytes, for storing.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(16)
        for word in [first, second] {
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift)))
            }
        }
        return bytes
    }

    /// Hashes a valid document in place: the sum of its elements' hashes, whatever their order.
    static func hashing(
        _ document: UnsafeRawBufferPointer, excluding field: UnsafeRawBufferPointer? = nil
    ) -> BSONContentHash {
        var cursor = BSONCursor(document)
        var sum: UInt128 = 0
        while let element = next(&cursor, excluding: field) { sum &+= summand(element) }
        return BSONContentHash(
            UInt64(truncatingIfNeeded: sum >> 64), UInt64(truncatingIfNeeded: sum))
    }

    /// Whether two valid documents have the same hash; identical elements at the same place add the
    /// same to both and are not hashed.
    static func areEqual(
        _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer,
        excluding field: UnsafeRawBufferPointer?
    ) -> Bool {
        var (first, second) = (BSONCursor(left), BSONCursor(right))
        var difference: UInt128 = 0
        while true {
            let a = next(&first, excluding: field)
            if let a, second.skip(sameAs: a) { continue }
            let b = next(&second, excluding: field)
            if let a, let b, a.isSame(as: b) { continue }
            if a == nil && b == nil { return difference == 0 }
            if let a { difference &+= summand(a) }
            if let b { difference &-= summand(b) }
        }
    }

    @inline(__always)
    private static func next(
        _ cursor: inout BSONCursor, excluding field: UnsafeRawBufferPointer?
    ) -> BSONRawElement? {
        while let element = cursor.next() {
            guard let field, element.key.count == field.count,
                BSONCursor.isEqual(element.key, field)
            else { return element }
        }
        return nil
    }

    /// Returns the part that an element adds to its document's hash.
    private static func summand(_ element: BSONRawElement) -> UInt128 {
        var hasher = BSONSipHasher()
        hasher.combine(UInt64(element.key.count) << 8 | UInt64(element.value.typeByte))
        hasher.combine(element.key)
        combine(element.value, into: &hasher)
        let hash = hasher.finish()
        return UInt128(hash.first) << 64 | UInt128(hash.second)
    }

    /// Hashes one value in place, with its type.
    static func hashing(_ value: BSONRawValue) -> BSONContentHash {
        var hasher = BSONSipHasher()
        hasher.combine(UInt64(value.typeByte))
        combine(value, into: &hasher)
        return hasher.finish()
    }

    private static func combine(_ value: BSONRawValue, into hasher: inout BSONSipHasher) {
        switch value.type {
        case .double, .string, .binary, .undefined, .objectID, .bool, .datetime, .null,
            .regularExpression, .dbPointer, .javascript, .symbol, .int32, .timestamp, .int64,
            .decimal128, .minKey, .maxKey:
            hasher.combine(UInt64(value.count))
            hasher.combine(value.bytes)
        case .document: hasher.combine(hashing(value.bytes))
        case .array:
            var cursor = BSONCursor(value)
            while let element = cursor.next() {
                hasher.combine(0x100 | UInt64(element.value.typeByte))
                combine(element.value, into: &hasher)
            }
            // No type has this number, so nested arrays hash differently from flat ones.
            hasher.combine(0x100)
        case .javascriptWithScope:
            let (code, scope) = value.codeAndScope
            hasher.combine(UInt64(code.count))
            hasher.combine(code)
            hasher.combine(hashing(scope))
        }
    }
}

/// SipHash-1-3 with 128 bits and a fixed key over 64-bit words.
///
/// Source: Aumasson and Bernstein, "SipHash: a fast short-input PRF". Here the input consists of
/// words, and a run of bytes is padded with zeros, so callers hash lengths before runs.
struct BSONSipHasher {
    private var v0: UInt64 = 0x736f_6d65_7073_6575
    private var v1: UInt64 = 0x646f_7261_6e64_6f6d ^ 0xee
    private var v2: UInt64 = 0x6c79_6765_6e65_7261
    private var v3: UInt64 = 0x7465_6462_7974_6573

    /// Adds one word to the input.
    @inline(__always)
    mutating func combine(_ word: UInt64) {
        v3 ^= word
        round()
        v0 ^= word
    }

    /// Adds a hash to the input.
    @inline(__always)
    mutating func combine(_ hash: BSONContentHash) {
        combine(hash.first)
        combine(hash.second)
    }

    /// Adds bytes to the input, padded with zeros to whole words.
    @inline(__always)
    mutating func combine(_ bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress else { return }
        var at = 0
        while bytes.count - at >= 8 {
            combine(
                UInt64(littleEndian: base.loadUnaligned(fromByteOffset: at, as: UInt64.self)))
            at += 8
        }
        guard at < bytes.count else { return }
        var word: UInt64 = 0
        var shift: UInt64 = 0
        while at < bytes.count {
            word |= UInt64(base.load(fromByteOffset: at, as: UInt8.self)) << shift
            shift += 8
            at += 1
        }
        combine(word)
    }

    /// Ends the input and returns the hash.
    @inline(__always)
    mutating func finish() -> BSONContentHash {
        v2 ^= 0xee
        for _ in 0..<3 { round() }
        let first = v0 ^ v1 ^ v2 ^ v3
        v1 ^= 0xdd
        for _ in 0..<3 { round() }
        return BSONContentHash(first, v0 ^ v1 ^ v2 ^ v3)
    }

    @inline(__always)
    private mutating func round() {
        v0 = v0 &+ v1
        v1 = v1 << 13 | v1 >> 51
        v1 ^= v0
        v0 = v0 << 32 | v0 >> 32
        v2 = v2 &+ v3
        v3 = v3 << 16 | v3 >> 48
        v3 ^= v2
        v0 = v0 &+ v3
        v3 = v3 << 21 | v3 >> 43
        v3 ^= v0
        v2 = v2 &+ v1
        v1 = v1 << 17 | v1 >> 47
        v1 ^= v2
        v2 = v2 << 32 | v2 >> 32
    }
}
