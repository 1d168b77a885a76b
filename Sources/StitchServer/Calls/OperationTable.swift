internal import BSONStore

/// The running commands, and the means to interrupt them.
final class OperationTable: Sendable {
    /// One running command.
    struct Operation: Sendable {
        /// Its number, as in `currentOp` and `killOp`.
        let number: Int32
        /// The command.
        let call: CommandCall
        /// When the command started.
        let startedAt: ContinuousClock.Instant
        /// Whether the command is useless once its client has disconnected.
        let endsWithClient: Bool
    }

    private struct State: Sendable {
        var last: Int32 = 0
        var running: [Int32: Operation] = [:]
        /// The callbacks that wake waiting commands, by operation number.
        var wakes: [Int32: @Sendable () -> Void] = [:]
        var isStopping = false
    }

    private let state = Locked(State())

    /// Creates an empty table.
    init() {}

    /// Registers a running command and returns its number.
    ///
    /// A command that has waited for a thread longer than its client for an answer ends at once.
    func begin(_ call: CommandCall, endsWithClient: Bool) -> Int32 {
        let number = state.withLock { state in
            state.last = state.last == .max ? 1 : state.last + 1
            state.running[state.last] = Operation(
                number: state.last, call: call, startedAt: .now, endsWithClient: endsWithClient)
            if state.isStopping { call.budget.stop(.shutdown) }
            return state.last
        }
        if endsWithClient, call.connection.state.withLock({ $0.isClosed }) {
            call.budget.stop(.interrupted)
        }
        return number
    }

    /// Removes a finished command.
    func end(_ number: Int32) {
        state.withLock { state in
            state.running[number] = nil
            state.wakes[number] = nil
        }
    }

    /// Calls back once when a waiting command is interrupted; immediately if it already is.
    ///
    /// - Returns: a closure that unsubscribes.
    func onStop(
        _ number: Int32, _ budget: WorkBudget, _ wake: @escaping @Sendable () -> Void
    ) -> @Sendable () -> Void {
        state.withLock { $0.wakes[number] = wake }
        // Checked after registering: a thread that interrupts the command meanwhile either finds
        // the callback or is noticed here.
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

    /// The running commands, ordered by number.
    var all: [Operation] {
        state.withLock { $0.running.values.sorted { $0.number < $1.number } }
    }

    /// Interrupts one command; returns `false` for an unknown number.
    func stop(_ number: Int32) -> Bool {
        guard let operation = state.withLock({ $0.running[number] }) else { return false }
        stop(operation, .interrupted)
        return true
    }

    /// Interrupts the commands of sessions.
    ///
    /// - Parameter own: the budget of the command that asks for it.
    func stop(sessions: [BSONDocument], except own: WorkBudget) {
        let keys = Set(sessions.map(SessionTable.key))
        for operation in all where operation.call.budget !== own {
            if keys.contains(operation.call.sessionKey) { stop(operation, .interrupted) }
        }
    }

    /// Interrupts the commands of a user's connections.
    ///
    /// - Parameter own: the budget of the command that asks for it.
    func stop(ofUser user: SignedInUser, except own: WorkBudget) {
        for operation in all where operation.call.budget !== own {
            let other = operation.call.connection.state.withLock { $0.user }
            if other?.storedID.hasSameBytes(as: user.storedID) == true {
                stop(operation, .interrupted)
            }
        }
    }

    /// Interrupts the commands of a disconnected client, except those that must complete anyway.
    func clientLeft(_ connection: Int32) {
        for operation in all
        where operation.endsWithClient && operation.call.connection.id == connection {
            stop(operation, .interrupted)
        }
    }

    /// Interrupts the commands that wait for an event, so that their clients learn of the stop.
    func stopWaiting() {
        let waiting = state.withLock { Set($0.wakes.keys) }
        for operation in all where waiting.contains(operation.number) { stop(operation, .shutdown) }
    }

    /// Interrupts all running commands, and those that start later.
    func stopAll() {
        state.withLock { $0.isStopping = true }
        for operation in all { stop(operation, .shutdown) }
    }
}
