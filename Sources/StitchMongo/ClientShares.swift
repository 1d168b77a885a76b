#if MongoRemote
    internal import BSONStore
    internal import StitchCommands

    /// The division of a pool's clients among the users of the program.
    ///
    /// A user has at most a share, and never more clients than are left for others. What the program
    /// does for itself has a reserve. Every wait ends.
    final class ClientShares: Sendable {
        /// The numbers of clients.
        struct Bounds: Sendable {
            /// The number of all clients.
            let all: Int
            /// The number that the clients of all users may be.
            let ofUsers: Int
            /// The number that the clients of one user may be.
            let ofOne: Int

            /// The bounds of a program whose users need no shares.
            static func undivided(_ all: Int) -> Bounds {
                Bounds(all: max(1, all), ofUsers: max(1, all), ofOne: max(1, all))
            }

            /// The bounds of a program for many users: one has an eighth, and the program itself a
            /// third.
            static func divided(_ all: Int) -> Bounds {
                Bounds(all: max(1, all), ofUsers: max(1, all * 2 / 3), ofOne: max(1, all / 8))
            }
        }

        private struct State: Sendable {
            var taken = 0
            var ofUsers = 0
            var byUser: [[UInt8]: Int] = [:]
            var waiting = 0
        }

        private let bounds: Bounds
        private let state = ThreadCondition(State())

        /// The pause after which a waiting thread checks whether its client is still wanted.
        private static let checkMilliseconds = 50

        init(_ bounds: Bounds) { self.bounds = bounds }

        /// Takes one client for a caller; waits while none is free for it.
        ///
        /// - Throws: a failure of kind `.busy` when none became free in time, or when the caller no
        ///   longer wants it.
        func take(for caller: MongoCaller) throws(MongoFailure) {
            let end = min(caller.deadline ?? .now + MongoCaller.waitMax, .now + MongoCaller.waitMax)
            var isWaiting = false
            try state.wait { (state) throws(MongoFailure) in
                if hasRoom(for: caller.user, state) {
                    state.taken += 1
                    if let user = caller.user {
                        state.ofUsers += 1
                        state.byUser[user, default: 0] += 1
                    }
                    if isWaiting { state.waiting -= 1 }
                    return ThreadWait.done(())
                }
                guard .now < end, caller.isWanted() else {
                    if isWaiting { state.waiting -= 1 }
                    throw Self.busy(caller.user == nil)
                }
                if !isWaiting {
                    isWaiting = true
                    state.waiting += 1
                }
                return .forSignalOr(milliseconds: Self.checkMilliseconds)
            }
        }

        /// Returns a client to the pool.
        func giveBack(of user: [UInt8]?) {
            state.withLock { state in
                state.taken -= 1
                if let user {
                    state.ofUsers -= 1
                    let rest = (state.byUser[user] ?? 1) - 1
                    state.byUser[user] = rest == 0 ? nil : rest
                }
                if state.waiting > 0 { self.state.wake(.all) }
            }
        }

        private func hasRoom(for user: [UInt8]?, _ state: State) -> Bool {
            guard state.taken < bounds.all else { return false }
            guard let user else { return true }
            let own = state.byUser[user] ?? 0
            // The last free ones are for users who have none yet.
            return own < bounds.ofOne && state.ofUsers < bounds.ofUsers
                && (own == 0 || own < bounds.ofUsers - state.ofUsers || bounds.ofOne == bounds.all)
        }

        private static func busy(_ isOwn: Bool) -> MongoFailure {
            MongoFailure(
                kind: .busy,
                message: isOwn
                    ? "all connections are in use"
                    : "this user's commands and transactions use all connections that one user may")
        }
    }
#endif
