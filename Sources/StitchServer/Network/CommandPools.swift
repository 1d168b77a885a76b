#if Server
    internal import NIOPosix

    /// Are the threads that commands run on.
    ///
    /// What may wait for somebody else's transaction has threads of its own: if it took all, the
    /// command that ends the transaction would find none.
    struct CommandPools: Sendable {
        /// Runs what waits for nobody.
        let all: NIOThreadPool
        /// Runs what may have to wait until it can write.
        let writers: NIOThreadPool

        /// Starts so many threads of each kind.
        init(threadsMax: Int) {
            all = NIOThreadPool(numberOfThreads: threadsMax)
            writers = NIOThreadPool(numberOfThreads: threadsMax)
            all.start()
            writers.start()
        }

        /// Ends the threads, once they have nothing to do.
        func shutdown() async throws {
            try await writers.shutdownGracefully()
            try await all.shutdownGracefully()
        }
    }
#endif
