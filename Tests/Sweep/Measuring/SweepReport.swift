import Foundation

/// The table of all rows, and those that fail.
struct SweepReport {
    /// The longest name.
    let widest: Int
    /// The names of the rows that fail.
    private(set) var failures: [String] = []
    private var stale: [String] = []
    private var count = 0

    /// Makes an empty report.
    init(widest: Int) { self.widest = widest }

    /// The first line of the table.
    var head: String {
        line("road", "grows with", "n … 8n", "ms", "exponent", "")
    }

    /// Takes a row; returns its line.
    mutating func add(_ row: SweepRow) -> String {
        count += 1
        let end: String
        switch row.verdict {
        case .pass: end = ""
        case .excused: end = "because \(row.road.reason ?? "")"
        case .stale:
            stale.append(row.road.name)
            end = "needs its reason no more: \(row.road.reason ?? "")"
        case .miss:
            failures.append(row.road.name)
            end = "MISSED"
        case .broken(let error):
            failures.append(row.road.name)
            end = "BROKEN \(error)"
        }
        let sizes = [row.times.first, row.times.last].compactMap { $0.map { "\($0.size)" } }
        return line(
            row.road.name, row.road.growth.rawValue, sizes.joined(separator: " … "),
            row.times.map { String(format: "%.4g", $0.ns / 1e6) }.joined(separator: " "),
            row.times.count > 1 ? String(format: "%.2f", row.exponent) : "-", end)
    }

    /// The last lines.
    var summary: String {
        var lines = ["\(count) roads, \(failures.count) above \(SweepRow.exponentMax) or broken"]
        lines += failures.map { "  \($0)" }
        if !stale.isEmpty { lines.append("reasons that nothing needs any more:") }
        lines += stale.map { "  \($0)" }
        return lines.joined(separator: "\n")
    }

    private func line(
        _ name: String, _ growth: String, _ sizes: String, _ times: String, _ exponent: String,
        _ end: String
    ) -> String {
        func pad(_ text: String, _ width: Int) -> String {
            text + String(repeating: " ", count: max(0, width - text.count))
        }
        return [
            pad(name, widest), pad(growth, 13), pad(sizes, 17), pad(times, 31), exponent, end,
        ].joined(separator: "  ")
    }
}
