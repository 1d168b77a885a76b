/// A transaction that stays open between calls, on a thread that only holds it.
///
/// One caller at a time may use it, from any thread. An open write transaction keeps every other
/// writer of the store waiting.
package final class OpenTransaction<Transaction: ReadTransaction>: @unchecked Sendable {
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

    private let condition = ThreadCondition()
    private var phase = Phase.beginning
    private var wish: EndRequest?
    private var lastUsed = ContinuousClock.now
    /// The number of threads that wait for the end or are about to cause it.
    private var waiters = 0
    /// The budget for the work of the current caller.
    private var budget: WorkBudget?

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
        condition.lock()
        defer { condition.unlock() }
        let limit = ContinuousClock.now + .milliseconds(milliseconds)
        while case .beginning = phase {
            guard ContinuousClock.now < limit else {
                wish = .abort
                throw StoreError(
                    .lockTimeout,
                    "Unable to acquire the store's lock for writing within \(milliseconds)ms.")
            }
            condition.wait(milliseconds: milliseconds)
        }
        if case .ended(let error?) = phase { throw error }
    }

    /// Offers the transaction to callers, on the thread that holds it, until it ends.
    fileprivate func hold(_ transaction: Transaction) throws {
        condition.lock()
        defer { condition.unlock() }
        if wish == nil {
            phase = .open(transaction)
            condition.broadcast()
        }
        while true {
            if case .inUse = phase {
                condition.wait()
            } else if let wish {
                phase = .beginning
                if wish == .abort { throw AbortRequested() }
                return
            } else {
                condition.wait()
            }
        }
    }

    private func end(_ error: (any Error)?) {
        condition.lock()
        phase = .ended(error)
        condition.broadcast()
        condition.unlock()
    }

    /// Runs a body in the transaction, on the calling thread.
    ///
    /// - Throws: the body's error, `closed` when the transaction has ended.
    package func use<R>(_ body: (Transaction) throws -> R) throws -> R {
        let transaction = try take()
        defer { give(transaction) }
        return try body(transaction)
    }

    private func take() throws -> Transaction {
        condition.lock()
        defer { condition.unlock() }
        // The lock is not fair: a caller that uses the transaction all the time would starve
        // waiting threads.
        if waiters > 0 { condition.wait(milliseconds: 1) }
        while true {
            switch phase {
            case .open(let transaction) where wish == nil:
                phase = .inUse
                budget = WorkBudget.current
                return transaction
            case .inUse where wish == nil: condition.wait()
            case .open, .inUse, .beginning, .ended: throw StoreError.transactionEnded
            }
        }
    }

    private func give(_ transaction: Transaction) {
        condition.lock()
        phase = .open(transaction)
        budget = nil
        lastUsed = .now
        condition.broadcast()
        condition.unlock()
    }

    /// Commits and waits for the result.
    ///
    /// - Throws: the store's errors; nothing is changed then.
    package func commit() throws { try end(by: .commit) }

    /// Aborts and waits for the end; does nothing when the transaction has ended.
    package func abort() {
        do {
            try end(by: .abort)
        } catch {
            // It ended with its own error: nothing was changed.
            return
        }
    }

    /// Requests an abort without waiting for it; ends the current caller's work.
    package func giveUp() {
        condition.lock()
        defer { condition.unlock() }
        if wish == nil { wish = .abort }
        if wish == .abort { budget?.stop(.interrupted) }
        condition.broadcast()
    }

    private func end(by wish: EndRequest) throws {
        condition.lock()
        defer { condition.unlock() }
        if case .ended(let error) = phase, wish == .commit {
            throw error ?? StoreError.transactionEnded
        }
        if self.wish == nil {
            self.wish = wish
        } else if wish == .commit {
            throw StoreError.transactionEnded
        }
        condition.broadcast()
        while true {
            if case .ended(let error) = phase {
                if let error { throw error }
                return
            }
            condition.wait()
        }
    }

    /// Whether it is open and has not been used for a while.
    package func hasBeenIdle(for idle: Duration) -> Bool {
        condition.lock()
        defer { condition.unlock() }
        guard case .open = phase, wish == nil else { return false }
        return ContinuousClock.now - lastUsed >= idle
    }

    /// Waits until the transaction has ended, has been idle for a while, or a deadline passes.
    ///
    /// - Returns: whether it has ended.
    /// - Throws: the error that ends the waiting thread's work.
    package func waitForEnd(
        idleAtMost idle: Duration, until limit: ContinuousClock.Instant
    ) throws(StoreError) -> Bool {
        condition.lock()
        waiters += 1
        var mayGoOn = true
        defer {
            // A waiting thread that timed out aborts the transaction, which needs the lock once
            // more.
            if mayGoOn { waiters -= 1 }
            condition.unlock()
        }
        while true {
            switch phase {
            case .ended: return true
            case .open where ContinuousClock.now - lastUsed >= idle && wish == nil:
                mayGoOn = false
                return false
            case .open, .inUse, .beginning:
                guard ContinuousClock.now < limit else {
                    mayGoOn = false
                    return false
                }
                try WorkBudget.check()
                condition.wait(milliseconds: 20)
            }
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
