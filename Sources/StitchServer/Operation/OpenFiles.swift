internal import BSONStore
#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// The files and connections that the process may have open.
enum OpenFiles {
    /// The maximum number; `nil` if the system does not tell.
    static var countMax: Int? {
        var limit = rlimit()
        #if canImport(Darwin)
            let result = getrlimit(RLIMIT_NOFILE, &limit)
        #else
            let result = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        #endif
        return result == 0 ? Int(clamping: limit.rlim_cur) : nil
    }

    /// Returns how many connections may be open: at most the given number, so that files remain for
    /// the store, its readers and results.
    static func connectionsMax(_ wanted: Int, of filesMax: Int? = countMax) -> Int {
        guard let filesMax else { return wanted }
        return max(1, min(wanted, filesMax - max(64, filesMax / 4)))
    }
}
