import BSONStore
@preconcurrency import Dispatch
import Foundation

/// Shows on a terminal how a file grows towards a size that is known.
struct FileGrowth: Sendable {
    private let bar: Locked<ProgressBar>
    private let timer: any DispatchSourceTimer

    private static let interval = DispatchTimeInterval.milliseconds(100)

    /// Begins to look; what cannot be shown is not shown.
    ///
    /// - Returns: `nil` where nobody watches.
    init?(of path: String, to total: Int, label: String, on descriptor: Descriptor = .error) {
        guard descriptor.isTerminal else { return nil }
        let bar = Locked(ProgressBar(label, unit: "bytes", total: total, on: descriptor))
        let timer = DispatchSource.makeTimerSource()
        timer.schedule(deadline: .now() + Self.interval, repeating: Self.interval)
        timer.setEventHandler {
            let size = FileManager.default.fileSize(path)
            bar.withLock { bar in do { try bar.show(min(size, total)) } catch {} }
        }
        timer.activate()
        self.bar = bar
        self.timer = timer
    }

    /// Stops looking and ends the bar's line.
    func finish() throws(CommandError) {
        timer.cancel()
        try bar.withLock { (bar) throws(CommandError) in try bar.finish() }
    }
}

extension FileManager {
    /// The size of a file in bytes, 0 where there is none.
    func fileSize(_ path: String) -> Int {
        do {
            return try attributesOfItem(atPath: path)[.size] as? Int ?? 0
        } catch {
            return 0
        }
    }
}
