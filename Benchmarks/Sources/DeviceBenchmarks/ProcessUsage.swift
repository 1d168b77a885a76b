import Foundation

/// The threads, the memory and the work of this process.
struct ProcessUsage {
    /// The threads; 0 where the system has no /proc.
    let threads: Int
    /// Resident memory in MiB.
    let memoryMiB: Double
    /// The CPU time so far.
    let time: Duration
    /// How often a thread of the process began to wait so far.
    let waits: Int

    init() {
        let status = Self.status()
        threads = status["Threads"] ?? 0
        memoryMiB = Double(status["VmRSS"] ?? 0) / 1_024
        var usage = rusage()
        #if canImport(Glibc)
            getrusage(RUSAGE_SELF.rawValue, &usage)
        #else
            getrusage(RUSAGE_SELF, &usage)
        #endif
        time = [usage.ru_utime, usage.ru_stime].reduce(.zero) {
            $0 + .seconds($1.tv_sec) + .microseconds($1.tv_usec)
        }
        waits = usage.ru_nvcsw
    }

    /// The numbers of /proc/self/status.
    private static func status() -> [String: Int] {
        guard let file = FileManager.default.contents(atPath: "/proc/self/status") else {
            return [:]
        }
        var numbers: [String: Int] = [:]
        for line in String(decoding: file, as: UTF8.self).split(separator: "\n") {
            let words = line.split(whereSeparator: { $0 == ":" || $0.isWhitespace })
            guard words.count > 1, let number = Int(words[1]) else { continue }
            numbers[String(words[0])] = number
        }
        return numbers
    }
}
