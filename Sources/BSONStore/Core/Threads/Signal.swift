/// A counter of an event, with tasks that wait for the next one.
package final class Signal: Sendable {
    private struct State {
        var count = 0
        var nextID = 0
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Locked(State())

    /// Creates a signal with a count of zero.
    package init() {}

    /// The number of events so far.
    package var count: Int { state.withLock { $0.count } }

    /// Counts an event and wakes the waiting tasks.
    package func notify() {
        let waiting = state.withLock { state in
            state.count += 1
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Waits until the count exceeds the given one; returns at once if the task is cancelled.
    package func wait(after count: Int) async {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state -> Bool in
                    if state.count > count || Task.isCancelled { return true }
                    state.waiting[id] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: id) }?.resume()
        }
    }
}
