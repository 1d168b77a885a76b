internal import BSONStore

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// A pause of a thread: between attempts, or for tests that need a slow server.
enum ThreadPause {
    /// Blocks the calling thread.
    static func wait(milliseconds: Int) {
        let bounded = max(0, min(milliseconds, 600_000))
        var time = timespec(
            tv_sec: bounded / 1_000, tv_nsec: bounded % 1_000 * 1_000_000)
        nanosleep(&time, nil)
    }
}
