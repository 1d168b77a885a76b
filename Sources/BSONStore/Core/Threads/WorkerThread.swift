/// Runs jobs on one thread of its own, several at a time when several are waiting.
///
/// The thread begins with the first job and ends after ``stop()``.
final class WorkerThread<Job: Sendable>: Sendable {
    private let state: WorkerState<Job>

    /// Makes a worker that gives waiting jobs, at most so many at once, to a body.
    init(batchMax: Int, _ body: @escaping @Sendable ([Job]) -> Void) {
        state = WorkerState(batchMax: batchMax, body: body)
    }

    deinit { stop() }

    /// Adds a job behind those that wait; `false` when the worker was stopped.
    func add(_ job: Job) -> Bool { state.add(job) }

    /// Lets the thread end once the jobs that wait are done.
    func stop() { state.stop() }
}

/// What the thread shares with those who give it jobs; kept alive by the thread while it runs.
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
