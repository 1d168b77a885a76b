/// Identifies a document by 12 bytes: seconds, a random part per process and a counter.
public struct BSONObjectID: Sendable, Hashable {
    let high: UInt64
    let low: UInt32

    /// Takes 12 bytes in wire order; `nil` when the count is another.
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

    init(bigEndianHigh high: UInt64, low: UInt32) {
        self.high = high
        self.low = low
    }

    /// The 12 bytes in wire order.
    public var bytes: [UInt8] {
        withUnsafeBytes(of: high.bigEndian) { upper in
            withUnsafeBytes(of: low.bigEndian) { lower in Array(upper) + Array(lower) }
        }
    }
}
