/// A position in MongoDB's operation order: seconds and a counter within the second.
public struct BSONTimestamp: Sendable, Hashable, Comparable {
    /// Seconds since 1970.
    public let seconds: UInt32
    /// The counter within the second.
    public let increment: UInt32

    /// Creates a timestamp from its two parts.
    public init(seconds: UInt32, increment: UInt32) {
        self.seconds = seconds
        self.increment = increment
    }

    /// Whether the left timestamp is earlier, by seconds, then by counter.
    public static func < (left: Self, right: Self) -> Bool {
        (left.seconds, left.increment) < (right.seconds, right.increment)
    }
}
