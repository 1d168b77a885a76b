#if Server
    internal import BSONStore
    internal import NIOCore
    internal import NIOPosix

    /// The threads that run commands.
    ///
    /// Commands that may wait for another session's transaction have their own threads. Otherwise
    /// they could occupy all threads, and the command that ends the transaction would find none.
    struct CommandPools: Sendable {
        /// Runs commands that do not wait for transactions.
        let all: NIOThreadPool
        /// Runs commands that may wait before they write.
        let writers: NIOThreadPool
        /// Returns what large commands freed.
        private let freeMemory: FreeMemory

        /// The unused memory that the process may keep, in bytes.
        ///
        /// The system counts code and mapped files as memory of the process, too; they cannot be
        /// returned.
        private static let unusedBytesMax = 64 * 1024 * 1024

        /// Starts the given number of threads in each pool.
        ///
        /// - Parameter loop: the event loop that schedules the return of free memory.
        init(threadsMax: Int, _ loop: any EventLoop) {
            let all = NIOThreadPool(numberOfThreads: threadsMax)
            freeMemory = FreeMemory { body in
                loop.scheduleTask(in: .milliseconds(Int64(FreeMemory.pauseMilliseconds))) {
                    all.submit { state in
                        if state == .active { body() }
                    }
                }
            } giveBack: {
                MemoryArenas.trim(above: Self.unusedBytesMax)
            }
            self.all = all
            writers = NIOThreadPool(numberOfThreads: threadsMax)
            all.start()
            writers.start()
        }

        /// Runs a step of a command on a thread, and returns the memory that long ones freed.
        ///
        /// - Parameter mayBlock: whether the step may wait for a transaction.
        func run(mayBlock: Bool, _ step: @escaping @Sendable (_ isActive: Bool) -> Void) {
            (mayBlock ? writers : all).submit { state in
                freeMemory.running { step(state == .active) }
            }
        }

        /// Ends the threads once their work is done.
        func shutdown() async throws {
            try await writers.shutdownGracefully()
            try await all.shutdownGracefully()
        }
    }
#endif
