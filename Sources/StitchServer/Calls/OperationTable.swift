internal import BSONStore

/// Holds the commands that run, and ends those that somebody wants to end.
final class OperationTable: Sendable {
    /// One command that runs.
    struct Operation: Sendable {
        /// Its number, which `currentOp` tells and `killOp` takes.
        let number: Int32
        /// What was asked for.
        let call: CommandCall
        /// When it began.
        let startedAt: ContinuousClock.Instant
        /// Whether nobody wants its end once the client is gone.
        let endsWithClient: Bool
    }

    private struct State: Sendable {
        var last: Int32 = 0
        var running: [Int32: Operation] = [:]
        /// What wakes those that wait, by their numbers.
        var wakes: [Int32: @Sendable () -> Void] = [:]
        var isStopping = false
    }

    private let state = Locked(State())

    /// Makes an empty table.
    init() {}

    /// Notes that a command runs, and gives its number.
    func begin(_ call: CommandCall, endsWithClient: Bool) -> Int32 {
        state.withLock { state in
            state.last = state.last == .max ? 1 : state.last + 1
            state.running[state.last] = Operation(
                number: state.last, call: call, startedAt: .now, endsWithClient: endsWithClient)
            if state.isStopping { call.budget.stop(.shutdown) }
            return state.last
        }
    }

    /// Notes that a command has run.
    func end(_ number: Int32) {
        state.withLock { state in
            state.running[number] = nil
            state.wakes[number] = nil
        }
    }

    /// Calls back once a command that waits is to end; at once when it is already.
    ///
    /// - Returns: what takes the wish back.
    func onStop(
        _ number: Int32, _ budget: WorkBudget, _ wake: @escaping @Sendable () -> Void
    ) -> @Sendable () -> Void {
        state.withLock { $0.wakes[number] = wake }
        // Asked afterwards: who stops it meanwhile finds the callback, or was seen here.
        if budget.fault != nil { self.wake(number) }
        return { [self] in state.withLock { $0.wakes[number] = nil } }
    }

    private func stop(_ operation: Operation, _ reason: WorkBudget.Reason) {
        operation.call.budget.stop(reason)
        wake(operation.number)
    }

    private func wake(_ number: Int32) {
        state.withLock { $0.wakes.removeValue(forKey: number) }?()
    }

    /// The commands that run, in the order of their numbers.
    var all: [Operation] {
        state.withLock { $0.running.values.sorted { $0.number < $1.number } }
    }

    /// Ends one command; `false` when none has the number.
    func stop(_ number: Int32) -> Bool {
        guard let operation = state.withLock({ $0.running[number] }) else { return false }
        stop(operation, .interrupted)
        return true
    }

    /// Ends what runs for a client that is gone; what nobody waits for anyway goes on.
    func clientLeft(_ connection: Int32) {
        for operation in all
        where operation.endsWithClient && operation.call.connection.id == connection {
            stop(operation, .interrupted)
        }
    }

    /// Ends all that runs, and what begins from now on.
    func stopAll() {
        state.withLock { $0.isStopping = true }
        for operation in all { stop(operation, .shutdown) }
    }
}
