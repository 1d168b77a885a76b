/// A thread that runs jobs, one after the other or several at a time.
///
/// The owners of jobs take turns (``FairQueue``), so many jobs of one owner do not delay those of
/// the others.
/// The thread starts with a job. It ends after ``stop()``, and after some seconds without a job, so
/// that a process with many idle stores has few threads.
package final class WorkerThread<Job: Sendable>: Sendable {
    private let state: WorkerState<Job>

    /// The jobs that wait while the body runs, which it may take, too.
    package struct Waiting {
        fileprivate let state: WorkerState<Job>

        /// Whether no job waits.
        package var isEmpty: Bool { state.hasNoJob }

        /// Takes the next job; `nil` when none waits.
        package func popFirst() -> Job? { state.popFirst() }
    }

    /// Creates a worker that passes each job to a body, with those that wait behind it.
    ///
    /// - Parameter idleMS: the time without a job after which the thread ends, in milliseconds.
    package init(
        idleMS: Int = 5_000, _ body: @escaping @Sendable (Job, Waiting) -> Void
    ) {
        state = WorkerState(idleMS: idleMS, body: body)
    }

    /// Whether the thread runs now.
    package var isRunning: Bool { state.isRunning }

    deinit { stop() }

    /// Adds a job behind the waiting ones of its owner; returns `false` if the worker was stopped.
    package func add(_ job: Job, of owner: [UInt8] = []) -> Bool { state.add(job, of: owner) }

    /// Ends the thread once the waiting jobs are done.
    package func stop() { state.stop() }
}

/// The state that the thread shares with its callers; the running thread retains it.
private final class WorkerState<Job: Sendable>: Sendable {
    private struct State: Sendable {
        var jobs = FairQueue<[UInt8], Job>()
        var isRunning = false
        var isStopped = false
    }

    private let state = ThreadCondition(State())
    private let body: @Sendable (Job, WorkerThread<Job>.Waiting) -> Void
    /// The time without a job after which the thread ends, in milliseconds.
    private let idleMS: Int

    init(
        idleMS: Int, body: @escaping @Sendable (Job, WorkerThread<Job>.Waiting) -> Void
    ) {
        self.idleMS = idleMS
        self.body = body
    }

    var isRunning: Bool { state.withLock { $0.isRunning } }

    var hasNoJob: Bool { state.withLock { $0.jobs.isEmpty } }

    func popFirst() -> Job? { state.withLock { $0.jobs.popFirst()?.element } }

    func add(_ job: Job, of owner: [UInt8]) -> Bool {
        state.withLock(waking: .one) { state in
            guard !state.isStopped else { return false }
            if !state.isRunning {
                state.isRunning = DetachedThread.start { self.run() }
                guard state.isRunning else { return false }
            }
            state.jobs.append(job, of: owner)
            return true
        }
    }

    func stop() { state.withLock(waking: .one) { $0.isStopped = true } }

    private func run() {
        while let job = next() { body(job, WorkerThread<Job>.Waiting(state: self)) }
    }

    /// Returns the next job; `nil` when the thread ends.
    private func next() -> Job? {
        var hasWaited = false
        return state.wait { state in
            guard let (_, job) = state.jobs.popFirst() else {
                guard !state.isStopped, !hasWaited else {
                    state.isRunning = false
                    return .done(nil)
                }
                hasWaited = true
                return .forSignalOr(milliseconds: idleMS)
            }
            return .done(job)
        }
    }
}
