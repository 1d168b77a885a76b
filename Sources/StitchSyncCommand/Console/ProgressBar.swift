/// Shows how far something is: a bar on a terminal, a plain line at every tenth elsewhere.
struct ProgressBar: ~Copyable {
    private let label: String
    private let unit: String
    private let total: Int?
    private let descriptor: Descriptor
    private let isTerminal: Bool
    private let partsMax: Int
    private var shown: Int?

    private static let width = 30
    private static let stepOfUnknown = 10_000

    /// Begins at nothing done; without a total it counts.
    init(_ label: String, unit: String, total: Int?, on descriptor: Descriptor = .error) {
        self.label = label
        self.unit = unit
        self.total = total
        self.descriptor = descriptor
        isTerminal = descriptor.isTerminal
        partsMax = descriptor.isTerminal ? 100 : 10
    }

    /// Shows a state when it differs visibly from the one that is shown.
    mutating func show(_ done: Int) throws(CommandError) {
        let part: Int
        if let total {
            part = total == 0 ? partsMax : min(done, total) * partsMax / total
        } else {
            part = done / Self.stepOfUnknown
        }
        guard part != shown, isTerminal || part > 0 else { return }
        shown = part
        let line = Self.line(label, unit, done, of: total, isTerminal: isTerminal)
        try descriptor.write(Array((isTerminal ? "\r\(line)\u{1B}[K" : line + "\n").utf8))
    }

    /// Leaves the last state on the screen and ends its line.
    consuming func finish() throws(CommandError) {
        if isTerminal, shown != nil { try descriptor.write(Array("\n".utf8)) }
    }

    /// The text of a state.
    static func line(
        _ label: String, _ unit: String, _ done: Int, of total: Int?, isTerminal: Bool
    ) -> String {
        guard let total else { return "\(label) \(done) \(unit)" }
        let percent = total == 0 ? 100 : min(done, total) * 100 / total
        guard isTerminal else { return "\(label) \(percent) % (\(done) of \(total) \(unit))" }
        let full = width * percent / 100
        let bar = String(repeating: "█", count: full) + String(repeating: "░", count: width - full)
        return "\(label) \(bar) \(percent) % (\(done) of \(total) \(unit))"
    }
}
