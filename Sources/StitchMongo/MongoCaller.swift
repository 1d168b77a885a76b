#if MongoRemote
    package import BSONStore

    /// The one for whom a blocking call runs.
    package struct MongoCaller: Sendable {
        /// The longest wait for a client of the pool.
        static let waitMax: Duration = .seconds(10)

        /// The user whose share of the clients the call uses; `nil` for the program itself.
        package let user: [UInt8]?
        /// The budget of the work; the server is asked to end a command whose budget is over.
        ///
        /// `nil` for a command that nothing interrupts.
        package let budget: WorkBudget?

        package init(user: [UInt8]?, budget: WorkBudget?) {
            self.user = user
            self.budget = budget
        }

        /// The program itself, whose commands nothing interrupts.
        package static let own = MongoCaller(user: nil, budget: nil)

        /// The time by which the call must end.
        var deadline: ContinuousClock.Instant? { budget?.deadline }

        /// Whether the result is still wanted.
        func isWanted() -> Bool { budget?.fault == nil }
    }
#endif
