import BSONStore
@preconcurrency import Dispatch
import Foundation

/// A progress bar on a terminal for a file that grows to a known size.
struct FileGrowth: Sendable {
    private let bar: Locked<ProgressBar>
    private let timer: any DispatchSourceTimer

    private static let interval = DispatchTimeInterval.milliseconds(100)

    /// Starts observing the file; errors of the display are ignored.
    ///
    /// - Returns: `nil` where the output is not a terminal.
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

    /// Stops observing, and ends the bar's line.
    func finish() throws(CommandError) {
        timer.cancel()
        try bar.withLock { (bar) throws(CommandError) in try bar.finish() }
    }
}

extension FileManager {
    /// Returns the size of a file in bytes; 0 if it does not exist.
    func fileSize(_ path: String) -> Int {
        do {
            return try attributesOfItem(atPath: path)[.size] as? Int ?? 0
        } catch {
            return 0
        }
    }
}
