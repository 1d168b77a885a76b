#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The memory usage of this process.
enum MemoryUsage {
    /// The largest resident size so far, in KiB.
    static var largestKiB: Int {
        var usage = rusage()
        #if canImport(Darwin)
            guard getrusage(RUSAGE_SELF, &usage) == 0 else { return 0 }
            return usage.ru_maxrss / 1024
        #else
            guard getrusage(RUSAGE_SELF.rawValue, &usage) == 0 else { return 0 }
            return usage.ru_maxrss
        #endif
    }
}
