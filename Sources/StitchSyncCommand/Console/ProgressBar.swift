/// The progress of a task: a bar on a terminal, elsewhere a line at every tenth, or nothing.
struct ProgressBar: Sendable {
    private let label: String
    private let unit: String
    private let total: Int?
    private let descriptor: Descriptor
    private let isTerminal: Bool
    private let isShown: Bool
    private var done = 0
    private var shown: (part: Int, done: Int)?

    private static let width = 30
    private static let plainParts = 10
    private static let plainStep = 10_000
    private static let terminalStep = 100

    /// Starts at 0; without a total, or beyond an estimated one, the bar only counts.
    ///
    /// - Parameter isForPeople: whether to print nothing where the output is not a terminal.
    init(
        _ label: String, unit: String, total: Int?, on descriptor: Descriptor = .error,
        isForPeople: Bool = false
    ) {
        self.label = label
        self.unit = unit
        self.total = total
        self.descriptor = descriptor
        isTerminal = descriptor.isTerminal
        isShown = isTerminal || !isForPeople
    }

    /// Shows the progress if it differs visibly from the shown one.
    mutating func show(_ done: Int) throws(CommandError) {
        self.done = done
        let part = part
        guard isShown, isTerminal ? part != shown?.part : part > shown?.part ?? 0 else { return }
        shown = (part, done)
        let line = Self.line(label, unit, done, of: total, isTerminal: isTerminal)
        try write(isTerminal ? "\r\(line)\u{1B}[K" : line + "\n")
    }

    /// Writes a separate line; on a terminal the bar reappears below it.
    mutating func interrupt(_ line: String) throws(CommandError) {
        let isShowing = isTerminal && shown != nil
        if isShowing { shown = nil }
        try write("\(isShowing ? "\r\u{1B}[K" : "")\(line)\n")
    }

    /// Leaves the last state on the screen, and ends its line.
    func finish() throws(CommandError) {
        guard isShown else { return }
        if isTerminal {
            if shown != nil { try write("\n") }
        } else if done > shown?.done ?? 0 {
            try write(Self.line(label, unit, done, of: total, isTerminal: false) + "\n")
        }
    }

    /// A number that changes whenever the visible state changes.
    private var part: Int {
        let parts = isTerminal ? 100 : Self.plainParts
        let step = isTerminal ? Self.terminalStep : Self.plainStep
        guard let total else { return done / step }
        guard done <= total else { return parts + done / step }
        return total == 0 ? parts : done * parts / total
    }

    private func write(_ text: String) throws(CommandError) {
        try descriptor.write(Array(text.utf8))
    }

    /// Returns the text of a state.
    static func line(
        _ label: String, _ unit: String, _ done: Int, of total: Int?, isTerminal: Bool
    ) -> String {
        guard let total, done <= total else { return "\(label) \(done) \(unit)" }
        let percent = total == 0 ? 100 : done * 100 / total
        guard isTerminal else { return "\(label) \(percent) % (\(done) of \(total) \(unit))" }
        let full = width * percent / 100
        let bar = String(repeating: "█", count: full) + String(repeating: "░", count: width - full)
        return "\(label) \(bar) \(percent) % (\(done) of \(total) \(unit))"
    }
}
