internal import BSONStore

/// The number of calls under way, whose end can be waited for.
final class RunningCalls: Sendable {
    private let count = Locked(0)
    private let ends = Signal()

    /// Whether a call is under way.
    var areRunning: Bool { count.withLock { $0 } > 0 }

    /// Notes the begin of a call.
    func begin() { count.withLock { $0 += 1 } }

    /// Notes the end of a call.
    func end() {
        count.withLock { $0 -= 1 }
        ends.notify()
    }

    /// Waits until no call is under way; returns at once if the task is cancelled.
    func waitForEnd() async {
        while !Task.isCancelled {
            let seen = ends.count
            guard areRunning else { return }
            await ends.wait(after: seen)
        }
    }
}
