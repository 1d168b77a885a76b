/// An async write that waits for the store's writer thread.
///
/// Waiting writes are committed together with one wait for the disk. Each has a savepoint of its
/// own, so that one that throws does not affect the others.
struct GroupCommitJob: Sendable {
    /// The largest number of writes in one commit, which bounds how long each waits.
    static let jobsMax = 64

    let store: DocumentStore
    /// Runs the body; its result is delivered after the commit.
    let perform: @Sendable (WriteTransaction) -> Settlement

    /// A closure that delivers a write's result, or the error of a failed commit.
    typealias Settlement = @Sendable ((any Error)?) -> Void

    static func run(_ jobs: [GroupCommitJob]) {
        guard let first = jobs.first else { return }
        let store = first.store
        if jobs.count == 1 { return first.runAlone() }
        var settlements: [Settlement] = []
        var failure: (any Error)?
        do {
            try store.write { transaction in
                for job in jobs {
                    transaction.resetSettings()
                    settlements.append(job.perform(transaction))
                    try transaction.connection.fault.check()
                    guard transaction.connection.isInTransaction else {
                        throw StoreError(
                            .interrupted, "SQLite gave up the transaction of several writes")
                    }
                }
            }
        } catch {
            failure = error
        }
        // The transaction may have failed to begin: every job still needs an answer.
        for job in jobs.dropFirst(settlements.count) { settlements.append(job.refused) }
        for settle in settlements { settle(failure) }
    }

    /// Reports an error for a write that never ran.
    let refused: Settlement
    /// Runs the body as the only one of its transaction, without a savepoint: SQLite then keeps no
    /// second copy of the written pages.
    let runAlone: @Sendable () -> Void
}

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
    static func perform<R: Sendable>(
        _ body: @escaping @Sendable (WriteTransaction) throws -> R, in store: DocumentStore
    ) throws -> R {
        let outcome = ThreadCondition<Result<R, any Error>?>(nil)
        let claim = WriteClaim()
        let job = GroupCommitJob(
            store: store,
            { transaction in
                try claim.begin()
                return try body(transaction)
            }, deliver: { result in outcome.withLock(waking: .one) { $0 = result } })
        guard store.writerThread.add(job) else { throw DocumentStore.closed }
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
