import Foundation

/// The threads, the memory and the work of this process.
package struct ProcessUsage {
    /// The threads; 0 where the system has no /proc.
    package let threads: Int
    /// Resident memory in MiB.
    package let memoryMiB: Double
    /// The CPU time so far.
    package let time: Duration
    /// How often a thread of the process began to wait so far.
    package let waits: Int

    package init() {
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

    /// Returns the CPU time of another process, to a hundredth of a second; zero where the system has no
    /// /proc.
    package static func time(of process: Int) -> Duration {
        guard let file = FileManager.default.contents(atPath: "/proc/\(process)/stat") else {
            return .zero
        }
        // The name in parentheses may hold spaces.
        let text = String(decoding: file, as: UTF8.self)
        let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 12, let user = Int(fields[11]), let system = Int(fields[12]) else {
            return .zero
        }
        return .milliseconds((user + system) * 10)
    }
}
