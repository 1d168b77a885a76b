import Foundation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The processor time of this process, of its ended children and of servers.
enum ProcessorTime {
    /// Returns the time so far in nanoseconds.
    ///
    /// - Parameter servers: processes that still run.
    static func nanoseconds(with servers: [pid_t]) -> Double {
        servers.reduce(clock(CLOCK_PROCESS_CPUTIME_ID) + ended()) { $0 + time(of: $1) }
    }

    private static func clock(_ id: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(id, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }

    private static func ended() -> Double {
        var usage = rusage()
        #if canImport(Glibc)
            getrusage(RUSAGE_CHILDREN.rawValue, &usage)
        #else
            getrusage(RUSAGE_CHILDREN, &usage)
        #endif
        let seconds = Double(usage.ru_utime.tv_sec) + Double(usage.ru_stime.tv_sec)
        let microseconds = Double(usage.ru_utime.tv_usec) + Double(usage.ru_stime.tv_usec)
        return seconds * 1e9 + microseconds * 1e3
    }

    /// The time of another process; 0 where the system does not tell.
    private static func time(of process: pid_t) -> Double {
        #if canImport(Glibc)
            var id = clockid_t()
            guard clock_getcpuclockid(process, &id) == 0 else { return 0 }
            return clock(id)
        #else
            return 0
        #endif
    }
}
