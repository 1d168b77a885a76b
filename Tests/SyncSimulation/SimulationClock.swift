import BSONStore

/// A clock that jumps when it is told to, and whose sleepers wake only when time is declared up.
final class SimulationClock: Clock, Sendable {
    struct Instant: InstantProtocol {
        var offset: Duration
        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct State {
        var now = Instant(offset: .zero)
        var isUp = false
        var sleepers: [Int: CheckedContinuation<Void, Never>] = [:]
        var nextID = 0
    }

    private let state = Locked(State())

    var now: Instant { state.withLock { $0.now } }
    var minimumResolution: Duration { .nanoseconds(1) }

    /// Moves the time, by hours or years.
    func jump(by duration: Duration) { state.withLock { $0.now.offset += duration } }

    /// Wakes the one who sleeps now, or the next one who begins to.
    func wakeOne() {
        let woken = state.withLock { state in
            guard let id = state.sleepers.keys.first(where: { $0 > 0 }) else {
                state.isUp = true
                return CheckedContinuation<Void, Never>?.none
            }
            return state.sleepers.removeValue(forKey: id)
        }
        woken?.resume()
    }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        await wait(unlessUp: true)
        try Task.checkCancellation()
    }

    /// Waits until the task is cancelled.
    func waitForCancellation() async { await wait(unlessUp: false) }

    private func wait(unlessUp: Bool) async {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state -> Bool in
                    if Task.isCancelled { return true }
                    if unlessUp && state.isUp {
                        state.isUp = false
                        return true
                    }
                    state.sleepers[unlessUp ? id : -id] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                state.sleepers.removeValue(forKey: unlessUp ? id : -id)
            }
            sleeper?.resume()
        }
    }
}
