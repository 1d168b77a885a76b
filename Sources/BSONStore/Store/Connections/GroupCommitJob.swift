/// An async write that waits for the store's writer thread.
///
/// Waiting writes are committed together with one wait for the disk. Each has a savepoint of its
/// own, so that one that throws does not affect the others.
struct GroupCommitJob: Sendable {
    /// The largest number of writes in one commit, which bounds how long each waits.
    static let jobsMax = 64
    /// The time after which a commit takes no further write.
    ///
    /// A write that takes long delays its own commit only, and not that of other users.
    static let timeMax: Duration = .milliseconds(10)
    /// The time of one write after which it is the last of its commit.
    ///
    /// Its caller would wait longer for the writes behind it than they save by a common commit; and one
    /// that sends several large writes could not go on with the first while the others are carried out.
    static let longWrite: Duration = .milliseconds(2)

    let store: DocumentStore
    /// Runs the body; its result is delivered after the commit.
    let perform: @Sendable (WriteTransaction) -> Settlement

    /// A closure that delivers a write's result, or the error of a failed commit.
    typealias Settlement = @Sendable ((any Error)?) -> Void

    /// Runs a write, and in the same commit those that wait behind it.
    ///
    /// - Parameter elapsed: the time since the beginning of the transaction.
    static func run(
        _ first: GroupCommitJob, _ waiting: some WaitingJobs,
        elapsed: (ContinuousClock.Instant) -> Duration = { ContinuousClock.now - $0 }
    ) {
        guard !waiting.isEmpty else { return first.runAlone() }
        var (settlements, hasBegun): ([Settlement], Bool) = ([], false)
        var failure: (any Error)?
        do {
            try first.store.write { transaction in
                let start = ContinuousClock.now
                var before = Duration.zero
                var next: GroupCommitJob? = first
                while let job = next {
                    hasBegun = true
                    transaction.resetSettings()
                    settlements.append(job.perform(transaction))
                    try transaction.connection.fault.check()
                    guard transaction.connection.isInTransaction else {
                        throw StoreError(
                            .interrupted, "SQLite rolled back the transaction of several writes")
                    }
                    let now = elapsed(start)
                    let isLast = now - before >= longWrite || now >= timeMax
                    next = settlements.count < jobsMax && !isLast ? waiting.popFirst() : nil
                    before = now
                }
            }
        } catch {
            failure = error
        }
        // The transaction failed to begin: the job still needs an answer.
        if !hasBegun { settlements.append(first.refused) }
        for settle in settlements { settle(failure) }
    }

    /// Reports an error for a write that never ran.
    let refused: Settlement
    /// Runs the body as the only one of its transaction, without a savepoint: SQLite then keeps no
    /// second copy of the written pages.
    let runAlone: @Sendable () -> Void
}

/// The writes that wait behind one.
protocol WaitingJobs {
    /// Whether none waits.
    var isEmpty: Bool { get }

    /// Takes the next write; `nil` when none waits.
    func popFirst() -> GroupCommitJob?
}

extension WorkerThread.Waiting: WaitingJobs where Job == GroupCommitJob {}

extension GroupCommitJob {
    /// Makes a job that runs a body and delivers its result after the commit.
    init<R: Sendable>(
        store: DocumentStore, _ body: @escaping @Sendable (WriteTransaction) throws -> R,
        deliver: @escaping @Sendable (Result<R, any Error>) -> Void
    ) {
        self.store = store
        perform = { transaction in
            let outcome = Result { try transaction.savepoint { try body(transaction) } }
            return { failure in
                if case .success = outcome, let failure {
                    deliver(.failure(failure))
                } else {
                    deliver(outcome)
                }
            }
        }
        refused = { deliver(.failure($0 ?? DocumentStore.closed)) }
        runAlone = { deliver(Result { try store.write { try body($0) } }) }
    }

    /// Runs a body in a write transaction that may be committed together with others; blocks the
    /// calling thread.
    ///
    /// - Parameter owner: the owner of the write; the owners of waiting writes take turns.
    static func perform<R: Sendable>(
        _ body: @escaping @Sendable (WriteTransaction) throws -> R, in store: DocumentStore,
        of owner: [UInt8] = []
    ) throws -> R {
        let outcome = ThreadCondition<Result<R, any Error>?>(nil)
        let claim = WriteClaim()
        let job = GroupCommitJob(
            store: store,
            { transaction in
                try claim.begin()
                return try body(transaction)
            }, deliver: { result in outcome.withLock(waking: .one) { $0 = result } })
        guard store.writerThread.add(job, of: owner) else { throw DocumentStore.closed }
        return try outcome.wait { outcome in
            if let outcome { return .done(try outcome.get()) }
            guard let budget = WorkBudget.current else { return .forSignal }
            if let fault = budget.fault, claim.withdraw() { throw fault }
            return .forSignalOr(milliseconds: 20)
        }
    }
}

/// The right of a waiting caller to withdraw its write until the write begins.
private final class WriteClaim: Sendable {
    private enum State { case waiting, begun, withdrawn }

    private let state = Locked(State.waiting)

    /// Marks the write as begun.
    ///
    /// - Throws: `interrupted` when the write was withdrawn.
    func begin() throws(StoreError) {
        let isWanted = state.withLock { state in
            guard state == .waiting else { return false }
            state = .begun
            return true
        }
        guard isWanted else {
            throw StoreError(.interrupted, "The write was withdrawn before it began")
        }
    }

    /// Withdraws the write; returns false when it has begun.
    func withdraw() -> Bool {
        state.withLock { state in
            guard state != .begun else { return false }
            state = .withdrawn
            return true
        }
    }
}
