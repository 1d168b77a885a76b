#if MongoRemote
    internal import BSONStore
    internal import StitchCommands

    /// Dedicated threads for blocking calls, which must not block other tasks.
    ///
    /// The number of threads is limited; a thread without work ends.
    final class MongoThreads: Sendable {
        private struct State {
            var waiting: [@Sendable () -> Void] = []
            var next = 0
            var threads = 0
            var isClosed = false
        }

        private let threadsMax: Int
        private let state = Locked(State())
        private let ended = Signal()

        init(threadsMax: Int) { self.threadsMax = max(1, threadsMax) }

        /// The number of jobs that wait for a thread.
        var waitingCount: Int { state.withLock { $0.waiting.count - $0.next } }

        /// Runs a job and returns its result; a cancelled task abandons the job, which continues
        /// alone.
        ///
        /// - Throws: the job's failure, or one of kind `.network` after a cancellation.
        func run<R: Sendable>(
            _ job: @escaping @Sendable () throws(MongoFailure) -> R
        ) async throws(MongoFailure) -> R {
            let answer = FirstAnswer<Result<R, MongoFailure>>()
            let isTaken = add { answer.give(Result(catching: job)) }
            guard isTaken else {
                throw MongoFailure(kind: .network, message: "the remote was closed")
            }
            return try await withTaskCancellationHandler {
                await answer.value
            } onCancel: {
                answer.give(.failure(MongoFailure(kind: .network, message: "cancelled")))
            }.get()
        }

        /// Adds a job without waiting for it; returns `false` when no thread can run it any more.
        @discardableResult
        func add(_ job: @escaping @Sendable () -> Void) -> Bool {
            state.withLock { state in
                guard !state.isClosed else { return false }
                // Existing threads are busy: an idle thread ends.
                if state.threads < threadsMax {
                    if DetachedThread.start({ self.work() }) {
                        state.threads += 1
                    } else if state.threads == 0 {
                        return false
                    }
                }
                state.waiting.append(job)
                return true
            }
        }

        /// Accepts no more jobs, and returns once the last thread has ended.
        func close() async {
            while true {
                let seen = ended.count
                let isDone = state.withLock { state in
                    state.isClosed = true
                    return state.threads == 0
                }
                if isDone { return }
                await ended.wait(after: seen)
            }
        }

        private func work() {
            while let job = nextJob() { job() }
            ended.notify()
        }

        private func nextJob() -> (@Sendable () -> Void)? {
            state.withLock { state in
                guard state.next < state.waiting.count else {
                    state.waiting = []
                    state.next = 0
                    state.threads -= 1
                    return nil
                }
                let job = state.waiting[state.next]
                state.next += 1
                if state.next >= 256 {
                    state.waiting.removeFirst(state.next)
                    state.next = 0
                }
                return job
            }
        }
    }
#endif
