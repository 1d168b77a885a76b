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
private final class WorkerState<Job: Sendable>: @unchecked Sendable {
    private let condition = ThreadCondition()
    private let batchMax: Int
    private let body: @Sendable ([Job]) -> Void
    private var jobs: [Job] = []
    private var isRunning = false
    private var isStopped = false

    init(batchMax: Int, body: @escaping @Sendable ([Job]) -> Void) {
        self.batchMax = batchMax
        self.body = body
    }

    func add(_ job: Job) -> Bool {
        condition.lock()
        defer { condition.unlock() }
        guard !isStopped else { return false }
        if !isRunning {
            isRunning = DetachedThread.start { self.run() }
            guard isRunning else { return false }
        }
        jobs.append(job)
        condition.signal()
        return true
    }

    func stop() {
        condition.lock()
        isStopped = true
        condition.signal()
        condition.unlock()
    }

    private func run() {
        while let batch = next() { body(batch) }
    }

    private func next() -> [Job]? {
        condition.lock()
        defer { condition.unlock() }
        while jobs.isEmpty {
            if isStopped { return nil }
            condition.wait()
        }
        let batch = Array(jobs.prefix(batchMax))
        jobs.removeFirst(batch.count)
        return batch
    }
}
