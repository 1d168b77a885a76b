internal import BSONStore

/// A thread that runs jobs, whose end can be waited for when the server stops.
final class CountedWorker<Job: Sendable>: Sendable {
    private let waiting: ThreadCondition<Int>
    private let waitingMax: Int
    private let worker: WorkerThread<Job>

    /// Creates a worker.
    ///
    /// - Parameters:
    ///   - waitingMax: the largest number of jobs that wait.
    ///   - body: does a job, and any of those that wait behind it; returns how many it has done.
    init(
        waitingMax: Int = .max,
        _ body: @escaping @Sendable (Job, WorkerThread<Job>.Waiting) -> Int
    ) {
        let waiting = ThreadCondition(0)
        self.waiting = waiting
        self.waitingMax = waitingMax
        worker = WorkerThread { job, others in
            let count = body(job, others)
            waiting.withLock(waking: .all) { $0 -= count }
        }
    }

    /// Has a job done soon; does not wait.
    ///
    /// A job beyond the limit, or after ``finish(within:)``, is dropped.
    func add(_ job: Job) {
        let isTaken = waiting.withLock { count in
            guard count < waitingMax else { return false }
            count += 1
            return true
        }
        guard isTaken, !worker.add(job) else { return }
        waiting.withLock(waking: .all) { $0 -= 1 }
    }

    /// Accepts no more jobs, and waits until those that wait are done, or the time is over.
    func finish(within limit: Duration) {
        worker.stop()
        let end = ContinuousClock.now + limit
        waiting.wait { count in
            count == 0 || end < .now ? ThreadWait.done(()) : .forSignalOr(milliseconds: 20)
        }
    }
}
