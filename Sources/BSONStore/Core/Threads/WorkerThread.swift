/// A thread that runs jobs, several at a time when several are waiting.
///
/// The thread starts with a job. It ends after ``stop()``, and after some seconds without a job, so
/// that a process with many idle stores has few threads.
package final class WorkerThread<Job: Sendable>: Sendable {
    private let state: WorkerState<Job>

    /// Creates a worker that passes waiting jobs to a body, at most `batchMax` at once.
    ///
    /// - Parameter idleMS: the time without a job after which the thread ends, in milliseconds.
    package init(
        batchMax: Int, idleMS: Int = 5_000, _ body: @escaping @Sendable ([Job]) -> Void
    ) {
        state = WorkerState(batchMax: batchMax, idleMS: idleMS, body: body)
    }

    /// Whether the thread runs now.
    package var isRunning: Bool { state.isRunning }

    deinit { stop() }

    /// Adds a job behind the waiting ones; returns `false` if the worker was stopped.
    package func add(_ job: Job) -> Bool { state.add(job) }

    /// Ends the thread once the waiting jobs are done.
    package func stop() { state.stop() }
}

/// The state that the thread shares with its callers; the running thread retains it.
private final class WorkerState<Job: Sendable>: Sendable {
    private struct State: Sendable {
        var jobs: [Job] = []
        var isRunning = false
        var isStopped = false
    }

    private let state = ThreadCondition(State())
    private let batchMax: Int
    private let body: @Sendable ([Job]) -> Void
    /// The time without a job after which the thread ends, in milliseconds.
    private let idleMS: Int

    init(batchMax: Int, idleMS: Int, body: @escaping @Sendable ([Job]) -> Void) {
        self.batchMax = batchMax
        self.idleMS = idleMS
        self.body = body
    }

    var isRunning: Bool { state.withLock { $0.isRunning } }

    func add(_ job: Job) -> Bool {
        state.withLock(waking: .one) { state in
            guard !state.isStopped else { return false }
            if !state.isRunning {
                state.isRunning = DetachedThread.start { self.run() }
                guard state.isRunning else { return false }
            }
            state.jobs.append(job)
            return true
        }
    }

    func stop() { state.withLock(waking: .one) { $0.isStopped = true } }

    private func run() {
        while let batch = next() { body(batch) }
    }

    /// Returns the next jobs; `nil` when the thread ends.
    private func next() -> [Job]? {
        var hasWaited = false
        return state.wait { state in
            guard !state.jobs.isEmpty else {
                guard !state.isStopped, !hasWaited else {
                    state.isRunning = false
                    return .done(nil)
                }
                hasWaited = true
                return .forSignalOr(milliseconds: idleMS)
            }
            let batch = Array(state.jobs.prefix(batchMax))
            state.jobs.removeFirst(batch.count)
            return .done(batch)
        }
    }
}
