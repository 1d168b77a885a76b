internal import BSONStore

/// A queue that runs one pass at a time, in the order of the calls.
final class PassQueue: Sendable {
    private struct State {
        var isBusy = false
        var nextID = 0
        var waiting: [(id: Int, turn: CheckedContinuation<Bool, Never>)] = []
    }

    private let state = Locked(State())

    /// Runs a closure once all earlier calls have ended.
    ///
    /// - Throws: the closure's error, and `CancellationError` at once when the task is cancelled
    ///   while it waits.
    func run<R>(_ body: () async throws -> R) async throws -> R {
        guard await enter() else { throw CancellationError() }
        defer { leave() }
        try Task.checkCancellation()
        return try await body()
    }

    /// Runs a closure once all earlier calls have ended, also in a cancelled task.
    func runAlways<R>(_ body: () throws -> R) async rethrows -> R {
        _ = await withCheckedContinuation { (turn: CheckedContinuation<Bool, Never>) in
            let isIn = state.withLock { state in
                defer { state.isBusy = true }
                if state.isBusy {
                    // No cancellation looks for it.
                    state.waiting.append((0, turn))
                    return false
                }
                return true
            }
            if isIn { turn.resume(returning: true) }
        }
        defer { leave() }
        return try body()
    }

    /// Waits until the caller may run; returns `false` when the task was cancelled before.
    private func enter() async -> Bool {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isIn = state.withLock { state -> Bool? in
                    if Task.isCancelled { return false }
                    if state.isBusy {
                        state.waiting.append((id, continuation))
                        return nil
                    }
                    state.isBusy = true
                    return true
                }
                if let isIn { continuation.resume(returning: isIn) }
            }
        } onCancel: {
            let given = state.withLock { state in
                state.waiting.firstIndex { $0.id == id }.map { state.waiting.remove(at: $0) }
            }
            given?.turn.resume(returning: false)
        }
    }

    private func leave() {
        let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            if state.waiting.isEmpty {
                state.isBusy = false
                return nil
            }
            return state.waiting.removeFirst().turn
        }
        next?.resume(returning: true)
    }
}
