internal import BSONStore

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Tells the time of day, for what people read; nothing is decided by it.
enum WallClock {
    /// Milliseconds since 1970.
    static var now: BSONDatetime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return BSONDatetime(
            milliseconds: Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000)
    }
}
