#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// The percentiles of a list of numbers.
enum Percentile {
    /// Returns the percentiles at fractions between 0 and 1; `nil` if there are no numbers.
    static func values(_ numbers: [Double], at parts: [Double]) -> [Double]? {
        let sorted = numbers.filter { !$0.isNaN }.sorted()
        guard !sorted.isEmpty else { return nil }
        return parts.map { part in
            let rank = (Double(sorted.count) * part).rounded(.up) - 1
            return sorted[max(0, min(sorted.count - 1, Int(rank)))]
        }
    }
}
