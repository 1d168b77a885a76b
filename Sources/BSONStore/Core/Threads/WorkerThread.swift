/// A thread that runs jobs, several at a time when several are waiting.
///
/// The thread starts with the first job and ends after ``stop()``.
package final class WorkerThread<Job: Sendable>: Sendable {
    private let state: WorkerState<Job>

    /// Creates a worker that passes waiting jobs to a body, at most `batchMax` at once.
    package init(batchMax: Int, _ body: @escaping @Sendable ([Job]) -> Void) {
        state = WorkerState(batchMax: batchMax, body: body)
    }

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

    init(batchMax: Int, body: @escaping @Sendable ([Job]) -> Void) {
        self.batchMax = batchMax
        self.body = body
    }

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

    private func next() -> [Job]? {
        state.wait { state in
            guard !state.jobs.isEmpty else { return state.isStopped ? .done(nil) : .forSignal }
            let batch = Array(state.jobs.prefix(batchMax))
            state.jobs.removeFirst(batch.count)
            return .done(batch)
        }
    }
}
