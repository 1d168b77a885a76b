/// A document id of 12 bytes: seconds, a random part per process and a counter.
///
/// Source: MongoDB's ObjectID specification.
public struct BSONObjectID: Sendable, Hashable {
    let high: UInt64
    let low: UInt32

    /// Creates an id from 12 bytes in wire order; `nil` for another count.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 12 else { return nil }
        var high: UInt64 = 0
        var low: UInt32 = 0
        for (index, byte) in bytes.enumerated() {
            if index < 8 { high = high << 8 | UInt64(byte) } else { low = low << 8 | UInt32(byte) }
        }
        self.high = high
        self.low = low
    }

    package init(bigEndianHigh high: UInt64, low: UInt32) {
        self.high = high
        self.low = low
    }

    /// Reads 24 hexadecimal digits of either case.
    ///
    /// - Throws: `BSONError` with code `invalidObjectID` for any other text.
    public init(_ hex: some StringProtocol) throws(BSONError) {
        var value: UInt128 = 0
        var count = 0
        for byte in hex.utf8 {
            guard count < 24, let digit = ExtendedJSONCharacters.hexValue(byte) else {
                count = -1
                break
            }
            value = value << 4 | UInt128(digit)
            count += 1
        }
        guard count == 24 else {
            throw BSONError(.invalidObjectID, "An ObjectId has 24 hexadecimal digits.")
        }
        high = UInt64(truncatingIfNeeded: value >> 32)
        low = UInt32(truncatingIfNeeded: value)
    }

    /// Reads 24 hexadecimal digits, with `nil` for a text that ``init(_:)`` throws for.
    @_disfavoredOverload
    public init?(_ hex: String) {
        do throws(BSONError) {
            try self.init(Substring(hex))
        } catch {
            return nil
        }
    }

    /// The 12 bytes in wire order.
    public var bytes: [UInt8] {
        withUnsafeBytes(of: high.bigEndian) { upper in
            withUnsafeBytes(of: low.bigEndian) { lower in Array(upper) + Array(lower) }
        }
    }

    /// The 24 lowercase hexadecimal digits.
    public var hex: String {
        String(unsafeUninitializedCapacity: 24) { text in
            for index in 0..<16 {
                text[index] = ExtendedJSONCharacters.hexDigit(
                    UInt8(high >> UInt64(60 - 4 * index) & 15))
            }
            for index in 0..<8 {
                let digit = UInt8(low >> UInt32(28 - 4 * index) & 15)
                text[16 + index] = ExtendedJSONCharacters.hexDigit(digit)
            }
            return 24
        }
    }

    /// The time of creation in seconds since 1970, from the first four bytes.
    public var timestampSeconds: UInt32 { UInt32(truncatingIfNeeded: high >> 32) }
}

extension BSONObjectID: CustomStringConvertible {
    /// The 24 digits of ``hex``.
    public var description: String { hex }
}

extension BSONObjectID: Comparable {
    /// Whether the left bytes sort first, which orders by time.
    public static func < (left: Self, right: Self) -> Bool {
        left.high != right.high ? left.high < right.high : left.low < right.low
    }
}
