/// A transaction that stays open between calls, on a thread that only holds it.
///
/// One caller at a time may use it, from any thread. An open write transaction keeps every other
/// writer of the store waiting.
package final class OpenTransaction<Transaction: ReadTransaction>: Sendable {
    private struct State {
        var phase = Phase.beginning
        /// The requested end; the first request counts.
        var wish: EndRequest?
        var lastUsed = ContinuousClock.now
        /// The number of threads that wait for the end or are about to cause it.
        var waiters = 0
        /// The budget for the work of the current caller.
        var budget: WorkBudget?
    }

    private enum Phase {
        case beginning
        case open(Transaction)
        case inUse
        case ended((any Error)?)
    }

    private enum EndRequest {
        case commit
        case abort
    }

    /// The request to abort the transaction; never leaves this file.
    private struct AbortRequested: Error {}

    private let state = ThreadCondition(State())

    fileprivate init() {}

    /// Begins a transaction on a new thread and waits until it is open.
    ///
    /// - Throws: `lockTimeout` (24) when other writers kept the store too long, and the store's
    ///   errors.
    fileprivate func begin(
        waitingAtMost milliseconds: Int,
        _ run: @escaping @Sendable (OpenTransaction) throws -> Void
    ) throws {
        let isStarted = DetachedThread.start {
            do {
                try run(self)
                self.end(nil)
            } catch is AbortRequested {
                self.end(nil)
            } catch {
                self.end(error)
            }
        }
        guard isStarted else {
            throw StoreError(.internalError, "no thread is left for a transaction")
        }
        let limit = ContinuousClock.now + .milliseconds(milliseconds)
        try state.wait { state -> ThreadWait<Void> in
            switch state.phase {
            case .beginning:
                guard ContinuousClock.now < limit else {
                    state.wish = .abort
                    throw StoreError(
                        .lockTimeout,
                        "Unable to acquire the store's lock for writing within \(milliseconds)ms.")
                }
                return .forSignalOr(milliseconds: milliseconds)
            case .ended(let error?): throw error
            case .open, .inUse, .ended(nil): return .done(())
            }
        }
    }

    /// Offers the transaction to callers, on the thread that holds it, until it ends.
    fileprivate func hold(_ transaction: Transaction) throws {
        state.withLock(waking: .all) { if $0.wish == nil { $0.phase = .open(transaction) } }
        try state.wait { state -> ThreadWait<Void> in
            if case .inUse = state.phase { return .forSignal }
            guard let wish = state.wish else { return .forSignal }
            state.phase = .beginning
            if wish == .abort { throw AbortRequested() }
            return .done(())
        }
    }

    private func end(_ error: (any Error)?) {
        state.withLock(waking: .all) { $0.phase = .ended(error) }
    }

    /// Runs a body in the transaction, on the calling thread, after the caller before.
    ///
    /// - Throws: the body's error, `closed` when the transaction has ended, and the end of the calling
    ///   work's time while it waits.
    package func use<R>(_ body: (Transaction) throws -> R) throws -> R {
        let transaction = try take()
        defer { give(transaction) }
        return try body(transaction)
    }

    private func take() throws -> Transaction {
        var hasYielded = false
        return try state.wait { state in
            // The lock is not fair: a caller that uses the transaction all the time would starve
            // waiting threads.
            if state.waiters > 0, !hasYielded {
                hasYielded = true
                return .forSignalOr(milliseconds: 1)
            }
            switch state.phase {
            case .open(let transaction) where state.wish == nil:
                state.phase = .inUse
                state.budget = WorkBudget.current
                return .done(transaction)
            case .inUse where state.wish == nil:
                try WorkBudget.check()
                return .forSignalOr(milliseconds: Self.checkMilliseconds)
            case .open, .inUse, .beginning, .ended: throw StoreError.transactionEnded
            }
        }
    }

    /// The time between two checks of a waiting caller's budget.
    private static var checkMilliseconds: Int { 50 }

    private func give(_ transaction: Transaction) {
        state.withLock(waking: .all) { state in
            state.phase = .open(transaction)
            state.budget = nil
            state.lastUsed = .now
        }
    }

    /// Commits after the present caller, and waits for the result.
    ///
    /// - Throws: the store's errors, and the end of the calling work's time while another caller uses
    ///   the transaction; nothing is changed then.
    package func commit() throws { try end(by: .commit) }

    /// Aborts and waits for the end; does nothing when the transaction has ended.
    ///
    /// Work whose time is over does not wait: the transaction ends with its present caller, whose
    /// work is stopped.
    package func abort() {
        do {
            try end(by: .abort)
        } catch {
            // Nothing, if it ended with its own error.
            giveUp()
        }
    }

    /// Requests an abort without waiting for it; ends the current caller's work.
    package func giveUp() {
        state.withLock(waking: .all) { state in
            if state.wish == nil { state.wish = .abort }
            if state.wish == .abort { state.budget?.stop(.interrupted) }
        }
    }

    private func end(by wish: EndRequest) throws {
        try state.withLock(waking: .all) { state in
            if case .ended(let error) = state.phase, wish == .commit {
                throw error ?? StoreError.transactionEnded
            }
            if state.wish == nil {
                state.wish = wish
            } else if wish == .commit {
                throw StoreError.transactionEnded
            }
        }
        try state.wait { state -> ThreadWait<Void> in
            switch state.phase {
            case .ended(let error?): throw error
            case .ended(nil): return .done(())
            // The thread that holds it ends it now.
            case .beginning, .open: return .forSignal
            case .inUse:
                if let fault = WorkBudget.current?.fault {
                    if wish == .commit, state.wish == .commit { state.wish = nil }
                    throw fault
                }
                return .forSignalOr(milliseconds: Self.checkMilliseconds)
            }
        }
    }

    /// Whether it is open and has not been used for a while.
    package func hasBeenIdle(for idle: Duration) -> Bool {
        state.withLock { state in
            guard case .open = state.phase, state.wish == nil else { return false }
            return ContinuousClock.now - state.lastUsed >= idle
        }
    }

    /// Waits until the transaction has ended, has been idle for a while, or a deadline passes.
    ///
    /// - Returns: whether it has ended.
    /// - Throws: the error that ends the waiting thread's work.
    package func waitForEnd(
        idleAtMost idle: Duration, until limit: ContinuousClock.Instant
    ) throws(StoreError) -> Bool {
        state.withLock { $0.waiters += 1 }
        do throws(StoreError) {
            return try state.wait { (state) throws(StoreError) in
                switch state.phase {
                case .ended:
                    state.waiters -= 1
                    return .done(true)
                // A waiting thread that timed out aborts the transaction, which needs the lock once
                // more: it stays a waiter.
                case .open where ContinuousClock.now - state.lastUsed >= idle && state.wish == nil:
                    return .done(false)
                case .open, .inUse, .beginning:
                    guard ContinuousClock.now < limit else { return .done(false) }
                    try WorkBudget.check()
                    return .forSignalOr(milliseconds: 20)
                }
            }
        } catch {
            state.withLock { $0.waiters -= 1 }
            throw error
        }
    }
}

extension OpenTransaction where Transaction == WriteTransaction {
    /// Begins a write transaction.
    ///
    /// - Throws: code 24 when other writers kept the store longer than the given time, and the
    ///   store's errors.
    package static func writing(
        _ store: DocumentStore, waitingAtMost milliseconds: Int
    ) throws -> OpenTransaction {
        let opened = OpenTransaction()
        try opened.begin(waitingAtMost: milliseconds) { opened in
            try store.write { try opened.hold($0) }
        }
        return opened
    }
}

extension OpenTransaction where Transaction == WriteTransaction {
    /// Runs a body with a write transaction on the calling thread, and undoes it afterwards.
    ///
    /// - Throws: the body's error, and the store's errors.
    package static func undone<R>(
        in store: DocumentStore, _ body: (OpenTransaction) throws -> R
    ) throws -> R {
        let opened = OpenTransaction()
        return try store.writeAndUndo { transaction in
            opened.state.withLock { $0.phase = .open(transaction) }
            defer { opened.end(nil) }
            return try body(opened)
        }
    }

    /// Runs a body whose changes are undone if it throws, as those of a transaction of its own.
    ///
    /// - Throws: the body's error, and the store's errors.
    package func useAsOwn<R>(_ body: (WriteTransaction) throws -> R) throws -> R {
        try use { transaction in
            defer { transaction.resetSettings() }
            return try transaction.savepoint { try body(transaction) }
        }
    }
}

extension OpenTransaction where Transaction == ReadTransaction {
    /// Begins a transaction on the current snapshot of the store.
    ///
    /// - Throws: the store's errors.
    package static func reading(
        _ store: DocumentStore, waitingAtMost milliseconds: Int
    ) throws -> OpenTransaction {
        let opened = OpenTransaction()
        try opened.begin(waitingAtMost: milliseconds) { opened in
            try store.read { try opened.hold($0) }
        }
        return opened
    }
}
