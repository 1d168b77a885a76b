internal import BSONStore

/// Runs what blocks on a thread of its own.
package enum BlockingThread {
    /// Runs a body and waits for it without holding a thread of the tasks.
    ///
    /// The body belongs to the caller's task, so that an expectation in it belongs to its test.
    package static func run<R: Sendable>(
        _ body: @escaping @Sendable () throws -> R
    ) async throws -> R {
        try await withTaskExecutorPreference(ThreadExecutor()) { try body() }
    }
}

/// Runs each part of a task on a new thread.
private final class ThreadExecutor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedTaskExecutor()
        let isStarted = DetachedThread.start { job.runSynchronously(on: executor) }
        // A system without threads runs it here.
        if !isStarted { job.runSynchronously(on: executor) }
    }
}
