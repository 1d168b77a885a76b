internal import BSONStore

/// The return of freed memory to the system, shortly after long steps of commands when none runs.
final class FreeMemory: Sendable {
    /// The time from which on a step counts as long; a shorter one frees little.
    static let longStep = Duration.milliseconds(20)
    /// The pause after the last step, in which a new one postpones the return.
    static let pauseMilliseconds = 100

    private struct State: Sendable {
        var running = 0
        /// Whether a long step has ended since the last return.
        var isDue = false
        var isScheduled = false
    }

    private let schedule: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let giveBack: @Sendable () -> Void
    private let state = Locked(State())

    /// - Parameters:
    ///   - schedule: runs a body after the pause, on a thread that may block.
    ///   - giveBack: returns the memory.
    init(
        schedule: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
        giveBack: @escaping @Sendable () -> Void
    ) {
        self.schedule = schedule
        self.giveBack = giveBack
    }

    /// Runs a step of a command.
    func running<R>(_ step: () -> R) -> R {
        begin()
        let start = ContinuousClock.now
        defer { end(after: .now - start) }
        return step()
    }

    /// Notes the begin of a step.
    func begin() { state.withLock { $0.running += 1 } }

    /// Notes the end of a step that took some time.
    func end(after time: Duration) {
        let isToSchedule = state.withLock { state in
            state.running -= 1
            if time >= Self.longStep { state.isDue = true }
            guard state.isDue, state.running == 0, !state.isScheduled else { return false }
            state.isScheduled = true
            return true
        }
        if isToSchedule { schedule { [weak self] in self?.giveBackIfIdle() } }
    }

    /// Returns the memory, or leaves it to the end of a step that has begun meanwhile.
    private func giveBackIfIdle() {
        let isIdle = state.withLock { state in
            state.isScheduled = false
            guard state.running == 0 else { return false }
            state.isDue = false
            return true
        }
        if isIdle { giveBack() }
    }
}
