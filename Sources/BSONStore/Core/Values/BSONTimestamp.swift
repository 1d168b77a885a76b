/// Orders operations inside of MongoDB: seconds and a counter in that second.
public struct BSONTimestamp: Sendable, Hashable, Comparable {
    /// Seconds since 1970.
    public let seconds: UInt32
    /// The counter in that second.
    public let increment: UInt32

    /// Makes a timestamp of its two parts.
    public init(seconds: UInt32, increment: UInt32) {
        self.seconds = seconds
        self.increment = increment
    }

    /// Seconds first, then the counter.
    public static func < (left: Self, right: Self) -> Bool {
        (left.seconds, left.increment) < (right.seconds, right.increment)
    }
}
