#if Server
    internal import BSONStore
    internal import NIOCore
    internal import NIOPosix

    /// Threads that users and addresses share (``WorkShares``).
    final class SharedThreads: Sendable {
        /// A piece of work; the argument is whether the threads still serve.
        typealias Work = @Sendable (_ isActive: Bool) -> Void

        private let threads: NIOThreadPool
        private let shares: Locked<WorkShares<Work>>

        /// Starts the threads.
        init(_ bounds: WorkShares<Work>.Bounds) {
            threads = NIOThreadPool(numberOfThreads: bounds.threadsMax)
            shares = Locked(WorkShares(bounds))
            threads.start()
        }

        /// Whether an owner has room for one more piece of waiting work.
        func hasRoom(for owner: [UInt8]) -> Bool { shares.withLock { $0.hasRoom(for: owner) } }

        /// Runs work once its owner may use a thread.
        func run(_ owner: [UInt8], _ rank: WorkRank, _ work: @escaping Work) {
            shares.withLock { $0.add(work, of: owner, rank) }
            beginNext()
        }

        private func beginNext() {
            while let begun = shares.withLock({ $0.next() }) {
                threads.submit { [self] state in
                    begun.work(state == .active)
                    shares.withLock { $0.end(begun.owner, begun.lane) }
                    if state == .active { beginNext() }
                }
            }
        }

        /// Ends the threads once their work is done; work that waits does not begin any more.
        func shutdown() async throws {
            for work in shares.withLock({ $0.removeAll() }) { work(false) }
            try await threads.shutdownGracefully()
        }
    }
#endif
