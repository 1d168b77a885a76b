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
        private let nonBlocking: SharedThreads
        /// Runs commands that may wait before they write.
        private let blocking: SharedThreads
        /// The room for large requests that wait.
        private let room = RequestRoom()
        /// Returns what large commands freed.
        private let freeMemory: FreeMemory

        /// The unused memory that the process may keep, in bytes.
        ///
        /// The system counts code and mapped files as memory of the process, too; they cannot be
        /// returned.
        private static let unusedBytesMax = 64 * 1024 * 1024

        /// The owner of the server's own work.
        private static let server: [UInt8] = Array("s".utf8)

        /// Starts the threads of each pool.
        ///
        /// - Parameters:
        ///   - threadsMax: the number of threads for users in each pool.
        ///   - loop: the event loop that schedules the return of free memory.
        init(threadsMax: Int, _ loop: any EventLoop) {
            let nonBlocking = SharedThreads(.usual(common: threadsMax))
            freeMemory = FreeMemory { body in
                loop.scheduleTask(in: .milliseconds(Int64(FreeMemory.pauseMilliseconds))) {
                    nonBlocking.run(Self.server, .vital) { isActive in
                        if isActive { body() }
                    }
                }
            } giveBack: {
                MemoryArenas.trim(above: Self.unusedBytesMax)
            }
            self.nonBlocking = nonBlocking
            blocking = SharedThreads(.usual(common: threadsMax))
        }

        /// Whether an owner may send one more command that may have to wait for a thread.
        ///
        /// - Parameter mayBlock: whether it is a step that may wait for a transaction.
        func hasRoom(for owner: [UInt8], mayBlock: Bool = false) -> Bool {
            (mayBlock ? blocking : nonBlocking).hasRoom(for: owner)
        }

        /// Returns the place of a request that begins to wait; `nil` if too large requests of its
        /// owner wait already.
        func place(for bytes: Int, of owner: [UInt8]) -> RequestPlace? {
            room.place(for: bytes, of: owner)
        }

        /// Runs a step of a command on a thread, and returns the memory that long ones freed.
        ///
        /// - Parameters:
        ///   - owner: the user or address whose share the step uses.
        ///   - mayBlock: whether the step may wait for a transaction.
        ///   - place: the place of the request, which it leaves once the step has a thread.
        func run(
            of owner: [UInt8], _ rank: WorkRank, mayBlock: Bool,
            leaving place: RequestPlace = .small,
            _ step: @escaping @Sendable (_ isActive: Bool) -> Void
        ) {
            (mayBlock ? blocking : nonBlocking).run(owner, rank) { isActive in
                place.leave()
                freeMemory.running { step(isActive) }
            }
        }

        /// Runs work of the server itself.
        func run(_ work: @escaping @Sendable (_ isActive: Bool) -> Void) {
            nonBlocking.run(Self.server, .vital, work)
        }

        /// Ends the threads once their work is done.
        func shutdown() async throws {
            try await blocking.shutdown()
            try await nonBlocking.shutdown()
        }
    }
#endif
