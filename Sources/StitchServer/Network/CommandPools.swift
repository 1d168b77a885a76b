#if Server
    internal import BSONStore
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

        /// Starts the given number of threads in each pool.
        init(threadsMax: Int) {
            all = NIOThreadPool(numberOfThreads: threadsMax)
            writers = NIOThreadPool(numberOfThreads: threadsMax)
            all.start()
            writers.start()
        }

        /// Ends the threads once their work is done.
        func shutdown() async throws {
            try await writers.shutdownGracefully()
            try await all.shutdownGracefully()
        }
    }
#endif
