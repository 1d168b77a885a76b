#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

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
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private let batchMax: Int
    private let body: @Sendable ([Job]) -> Void
    private var jobs: [Job] = []
    private var isRunning = false
    private var isStopped = false

    init(batchMax: Int, body: @escaping @Sendable ([Job]) -> Void) {
        self.batchMax = batchMax
        self.body = body
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
        condition = .allocate(capacity: 1)
        condition.initialize(to: pthread_cond_t())
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        condition.deallocate()
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func add(_ job: Job) -> Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        guard !isStopped else { return false }
        jobs.append(job)
        if !isRunning { start() }
        pthread_cond_signal(condition)
        return true
    }

    func stop() {
        pthread_mutex_lock(mutex)
        isStopped = true
        pthread_cond_signal(condition)
        pthread_mutex_unlock(mutex)
    }

    private func start() {
        isRunning = true
        let work = Unmanaged.passRetained(WorkerBody { self.run() })
        #if canImport(Darwin)
            var thread: pthread_t?
        #else
            var thread = pthread_t()
        #endif
        let result = pthread_create(&thread, nil, workerThreadMain, work.toOpaque())
        precondition(result == 0, "the system has no thread left for a store's writer")
        #if canImport(Darwin)
            if let thread { pthread_detach(thread) }
        #else
            pthread_detach(thread)
        #endif
    }

    private func run() {
        while let batch = next() { body(batch) }
    }

    private func next() -> [Job]? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while jobs.isEmpty {
            if isStopped { return nil }
            pthread_cond_wait(condition, mutex)
        }
        let batch = Array(jobs.prefix(batchMax))
        jobs.removeFirst(batch.count)
        return batch
    }
}

/// Carries what a thread runs through the C function that starts it.
private final class WorkerBody {
    let run: () -> Void

    init(_ run: @escaping () -> Void) { self.run = run }
}

#if canImport(Darwin)
    private func workerThreadMain(_ context: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        Unmanaged<WorkerBody>.fromOpaque(context).takeRetainedValue().run()
        return nil
    }
#else
    private func workerThreadMain(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        if let context {
            Unmanaged<WorkerBody>.fromOpaque(context).takeRetainedValue().run()
        }
        return nil
    }
#endif
