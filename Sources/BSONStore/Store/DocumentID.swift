#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif
internal import Synchronization

/// Makes ids for documents that come without one.
enum DocumentID {
    private static let counter = Atomic<UInt32>(UInt32.random(in: 0...0xFF_FFFF))
    private static let processPart = UInt64.random(in: 0...0xFF_FFFF_FFFF)

    /// A new ObjectId: seconds, five bytes drawn once a process, a counter.
    static func generate() -> BSONObjectID {
        let seconds = UInt64(UInt32(truncatingIfNeeded: time(nil)))
        let count = counter.wrappingAdd(1, ordering: .relaxed).oldValue & 0xFF_FFFF
        return BSONObjectID(
            bigEndianHigh: seconds << 32 | processPart >> 8,
            low: UInt32(truncatingIfNeeded: processPart & 0xFF) << 24 | count)
    }
}
