#if MongoRemote
    import BSONStore
    import StitchCommands
    import Testing

    @testable import StitchMongo

    /// Without these one user of a gateway takes all connections to the database behind it, and the
    /// others, and the gateway itself, wait for ever.
    @Suite struct ClientSharesTests {
        /// A caller that waits no longer than a moment.
        private static func caller(_ user: UInt8?) -> MongoCaller {
            MongoCaller(user: user.map { [$0] }, budget: WorkBudget(deadline: .now))
        }

        private static func isTaken(_ shares: ClientShares, by user: UInt8?) -> Bool {
            Result { () throws(MongoFailure) in try shares.take(for: caller(user)) }.isSuccess
        }

        @Test("a user has a share, all users leave a reserve, and the program has all")
        func shares() {
            let shares = ClientShares(.divided(48))
            #expect((0..<48).count { _ in Self.isTaken(shares, by: 1) } == 6)
            let ofOthers = (UInt8(2)...20).map { user in
                (0..<48).count { _ in Self.isTaken(shares, by: user) }
            }
            #expect(ofOthers.allSatisfy { $0 >= 1 || ofOthers.reduce(6, +) == 32 }, "\(ofOthers)")
            #expect(ofOthers.reduce(6, +) == 32, "a third is the program's own")
            #expect((0..<48).count { _ in Self.isTaken(shares, by: nil) } == 16)
        }

        @Test("the last free ones are for users who have none")
        func lastOnes() {
            let shares = ClientShares(.init(all: 20, ofUsers: 10, ofOne: 8))
            let first = (0..<20).count { _ in Self.isTaken(shares, by: 1) }
            #expect(first == 5)
            #expect((UInt8(2)...4).allSatisfy { user in Self.isTaken(shares, by: user) })
        }

        @Test("a wait ends when a client is given back, when its time is over, and by interruption")
        func waits() throws {
            let shares = ClientShares(.undivided(1))
            try shares.take(for: .own)
            let budget = WorkBudget()
            budget.stop(.interrupted)
            let error = #expect(throws: MongoFailure.self) {
                try shares.take(for: MongoCaller(user: [1], budget: budget))
            }
            #expect(error?.kind == .busy)
            #expect(!Self.isTaken(shares, by: nil))
            let isReady = ThreadCondition(false)
            let isStarted = DetachedThread.start {
                isReady.withLock(waking: .all) { $0 = true }
                shares.giveBack(of: nil)
            }
            try #require(isStarted)
            isReady.wait { $0 ? ThreadWait.done(()) : .forSignal }
            try shares.take(for: .own)
        }
    }

    extension Result {
        fileprivate var isSuccess: Bool {
            if case .success = self { true } else { false }
        }
    }
#endif
