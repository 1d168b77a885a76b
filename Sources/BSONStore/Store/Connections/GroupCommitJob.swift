/// One async write that waits for the store's writer thread.
///
/// Writes that wait together are committed together: each in a savepoint of its own, so that one
/// that throws takes nothing of the others with it, and with one wait for the disk.
struct GroupCommitJob: Sendable {
    /// So many writes are committed at once at most, which bounds how long each one waits.
    static let jobsMax = 64

    let store: DocumentStore
    /// Runs the body; the result is told with the outcome of the commit.
    let perform: @Sendable (WriteTransaction) -> Settlement

    /// Tells the caller how the write ended; given the error when the commit failed.
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
                    if let fault = transaction.connection.fault { throw fault }
                    guard transaction.connection.isInTransaction else {
                        throw StoreError(
                            .interrupted, "SQLite gave up the transaction of several writes")
                    }
                }
            }
        } catch {
            failure = error
        }
        // The transaction may have failed to begin: nobody is left without an answer.
        for job in jobs.dropFirst(settlements.count) { settlements.append(job.refused) }
        for settle in settlements { settle(failure) }
    }

    /// Tells the caller of a write that never ran.
    let refused: Settlement
    /// Runs the body as the only one of its transaction, which needs no savepoint: SQLite then keeps
    /// no second copy of the pages that are written.
    let runAlone: @Sendable () -> Void
}

extension DocumentStore {
    /// Changes documents in one transaction on the store's writer thread.
    ///
    /// The caller's thread is free while the disk is waited for, and callers who wait at the same
    /// time share the wait. Cancelling the task is noticed before the transaction begins, never in it.
    ///
    /// - Throws: as the synchronous form, and `CancellationError`.
    @discardableResult
    public func write<R: Sendable>(
        _ body: @escaping @Sendable (WriteTransaction) throws -> R
    ) async throws -> R {
        try Task.checkCancellation()
        return try await withCheckedThrowingContinuation { continuation in
            let job = GroupCommitJob(
                store: self,
                perform: { transaction in
                    let outcome = Result { try transaction.job(body) }
                    return { failure in
                        if case .success = outcome, let failure {
                            continuation.resume(throwing: failure)
                        } else {
                            continuation.resume(with: outcome)
                        }
                    }
                },
                refused: { failure in
                    continuation.resume(throwing: failure ?? Self.closed)
                },
                runAlone: {
                    continuation.resume(with: Result { try self.write { try body($0) } })
                })
            if !writerThread.add(job) { continuation.resume(throwing: Self.closed) }
        }
    }
}

extension DocumentStore {
    /// Changes documents in one transaction that may be committed together with others; the calling
    /// thread waits for it.
    ///
    /// - Throws: as the other forms do.
    package func writeInGroup<R: Sendable>(
        _ body: @escaping @Sendable (WriteTransaction) throws -> R
    ) throws -> R {
        let outcome = Locked<Result<R, any Error>?>(nil)
        let claim = WriteClaim()
        let condition = ThreadCondition()
        let settle: @Sendable (Result<R, any Error>) -> Void = { result in
            condition.lock()
            outcome.withLock { $0 = result }
            condition.signal()
            condition.unlock()
        }
        let job = GroupCommitJob(
            store: self,
            perform: { transaction in
                let result = Result {
                    try claim.begin()
                    return try transaction.job(body)
                }
                return { failure in
                    if case .success = result, let failure {
                        settle(.failure(failure))
                    } else {
                        settle(result)
                    }
                }
            },
            refused: { settle(.failure($0 ?? Self.closed)) },
            runAlone: {
                settle(
                    Result {
                        try self.write { transaction in
                            try claim.begin()
                            return try body(transaction)
                        }
                    })
            })
        guard writerThread.add(job) else { throw Self.closed }
        condition.lock()
        defer { condition.unlock() }
        while true {
            if let result = outcome.withLock({ $0 }) { return try result.get() }
            guard let budget = WorkBudget.current else {
                condition.wait()
                continue
            }
            if let fault = budget.fault, claim.withdraw() { throw fault }
            condition.wait(milliseconds: 20)
        }
    }
}

/// Lets a write be withdrawn by who waits for it, until it begins.
private final class WriteClaim: Sendable {
    private enum State { case waiting, begun, withdrawn }

    private let state = Locked(State.waiting)

    /// Notes that the write begins.
    ///
    /// - Throws: `interrupted` when nobody wants it any more.
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

    /// Withdraws the write; false when it has begun.
    func withdraw() -> Bool {
        state.withLock { state in
            guard state != .begun else { return false }
            state = .withdrawn
            return true
        }
    }
}

extension WriteTransaction {
    /// Runs one of several writes: undone alone when it throws.
    fileprivate func job<R>(_ body: (WriteTransaction) throws -> R) throws -> R {
        try savepoint { try body(self) }
    }

    /// Forgets what one of several writes set for itself, which must not hold for the next one.
    fileprivate func resetSettings() {
        comment = nil
        bypassesValidation = false
        hint = nil
        accessPolicy = nil
        isEngineWrite = false
        // The engine may have begun to keep one in step.
        unsyncedTables.removeAll()
    }
}
