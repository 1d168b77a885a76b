#if MongoRemote
    internal import BSONStore
    internal import StitchCommands

    /// The running commands that may be interrupted, and the thread that has the server end those
    /// that are no longer wanted.
    ///
    /// A thread that waits for libmongoc cannot be interrupted. The server ends the command, and so
    /// the wait.
    final class CommandKiller: Sendable {
        fileprivate struct Running: Sendable {
            let session: BSONDocument
            let budget: WorkBudget
            /// The number of requests to the server to end the command.
            var kills = 0
            var nextKill = ContinuousClock.now
        }

        private struct State: Sendable {
            var last: UInt64 = 0
            var running: [UInt64: Running] = [:]
            var isWorking = false
            /// The sessions whose connection broke while the server worked for them.
            var lost: [BSONDocument] = []
            /// The time since which nothing runs; `nil` while something does.
            var idleSince: ContinuousClock.Instant?
        }

        private let state = ThreadCondition(State())
        /// Ends the commands of sessions at the server.
        private let kill: @Sendable ([BSONDocument]) -> Void

        /// The pause between two checks of the running commands.
        private static let checkMilliseconds = 25
        /// The time without a command after which the thread ends.
        private static let idleMax: Duration = .seconds(5)
        /// The largest number of sessions that one command names.
        private static let batchMax = 1_000

        init(_ kill: @escaping @Sendable ([BSONDocument]) -> Void) { self.kill = kill }

        /// Runs a body that sends commands of a session.
        ///
        /// - Parameter didKill: is called if the server was asked to end the session's commands.
        func running<R>(
            _ session: BSONDocument, _ budget: WorkBudget?, didKill: () -> Void,
            _ body: () throws(MongoFailure) -> R
        ) throws(MongoFailure) -> R {
            guard let budget else { return try body() }
            let number = begin(session, budget)
            defer { if end(number) { didKill() } }
            return try body()
        }

        /// Ends at the server the commands of a session whose connection broke: their answers
        /// cannot arrive.
        func endLost(_ session: BSONDocument) {
            state.withLock(waking: .all) { state in
                guard state.lost.count < Self.batchMax else { return }
                state.lost.append(session)
                if state.running.isEmpty { state.idleSince = .now }
                if !state.isWorking { state.isWorking = DetachedThread.start { self.work() } }
            }
        }

        private func begin(_ session: BSONDocument, _ budget: WorkBudget) -> UInt64 {
            state.withLock { state in
                state.last += 1
                state.running[state.last] = Running(session: session, budget: budget)
                state.idleSince = nil
                if !state.isWorking { state.isWorking = DetachedThread.start { self.work() } }
                return state.last
            }
        }

        /// - Returns: whether the server was asked to end it.
        private func end(_ number: UInt64) -> Bool {
            state.withLock { state in
                let ended = state.running.removeValue(forKey: number)
                if state.running.isEmpty { state.idleSince = .now }
                return ended.map { $0.kills > 0 } ?? false
            }
        }

        private func work() {
            while let unwanted = next() {
                for some in stride(from: 0, to: unwanted.count, by: Self.batchMax) {
                    kill(Array(unwanted[some..<min(unwanted.count, some + Self.batchMax)]))
                }
            }
        }

        /// Returns the sessions whose commands are to end; `nil` when the thread ends.
        private func next() -> [BSONDocument]? {
            state.wait { state in
                if let idleSince = state.idleSince, idleSince + Self.idleMax < .now {
                    state.isWorking = false
                    return .done(nil)
                }
                let now = ContinuousClock.now
                let due = state.running.filter { $0.value.nextKill <= now && $0.value.isUnwanted }
                let lost = state.lost
                state.lost = []
                guard !due.isEmpty || !lost.isEmpty else {
                    return .forSignalOr(milliseconds: Self.checkMilliseconds)
                }
                // The command may reach the server after the request to end it: repeat that.
                for number in due.keys {
                    state.running[number]?.kills += 1
                    let kills = min(state.running[number]?.kills ?? 1, 6)
                    state.running[number]?.nextKill = now + .milliseconds(25 << kills)
                }
                return .done(due.values.map(\.session) + lost)
            }
        }
    }

    extension CommandKiller.Running {
        fileprivate var isUnwanted: Bool { budget.fault != nil }
    }
#endif
