internal import BSONStore

/// Lets one pass run at a time; others wait their turn in order.
final class PassGate: Sendable {
    private struct State {
        var isBusy = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())

    /// Runs a body when nobody else does.
    ///
    /// - Throws: what the body throws, and `CancellationError` when the task was cancelled while it
    ///   waited for its turn.
    func run<R>(_ body: () async throws -> R) async throws -> R {
        await enter()
        defer { leave() }
        try Task.checkCancellation()
        return try await body()
    }

    private func enter() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state -> Bool in
                if state.isBusy {
                    state.waiting.append(continuation)
                    return false
                }
                state.isBusy = true
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    private func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if state.waiting.isEmpty {
                state.isBusy = false
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
