import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

extension BSONObjectID {
    /// Creates a unique id from the current time, the process's random part and a counter.
    ///
    /// Within a process and a second, ids are in the order of creation until the counter of 24 bits
    /// wraps.
    public init() {
        self.init(timestampSeconds: UInt32(truncatingIfNeeded: time(nil)))
    }

    /// Creates an id as ``init()`` does, for a given time.
    public init(timestampSeconds: UInt32) {
        let random = ObjectIDGenerator.random
        let count = ObjectIDGenerator.nextCount()
        self.init(
            bigEndianHigh: UInt64(timestampSeconds) << 32 | random >> 8,
            low: UInt32(truncatingIfNeeded: random & 0xFF) << 24 | count)
    }
}

/// The parts of an ObjectId that belong to the process.
private enum ObjectIDGenerator {
    private static let seed = UInt64.random(in: .min ... .max)
    private static let counter = Atomic<UInt32>(.random(in: .min ... .max))

    /// Forty random bits; a forked child has others without having to notice the fork.
    static var random: UInt64 {
        var mixed = seed &+ UInt64(truncatingIfNeeded: getpid()) &* 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return (mixed ^ mixed >> 31) & 0xFF_FFFF_FFFF
    }

    /// Returns the next of 2^24 counts.
    static func nextCount() -> UInt32 {
        counter.wrappingAdd(1, ordering: .relaxed).oldValue & 0xFF_FFFF
    }
}
