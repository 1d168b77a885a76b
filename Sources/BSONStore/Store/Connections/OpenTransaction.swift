/// Keeps a transaction open from call to call, on a thread that does nothing but hold it.
///
/// One caller at a time may use it, from any thread. A transaction for writing keeps every other
/// writer of the store out while it is open.
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

    /// Says that the transaction was to be given up; never leaves this file.
    private struct AbortRequested: Error {}

    private let condition = ThreadCondition()
    private var phase = Phase.beginning
    private var wish: EndRequest?
    private var lastUsed = ContinuousClock.now
    /// Threads that wait for the end, or are about to bring it.
    private var waiters = 0
    /// Bounds the work of who uses it.
    private var budget: WorkBudget?

    fileprivate init() {}

    /// Begins a transaction on a new thread and waits until it is open.
    ///
    /// - Throws: `lockTimeout` (24) when other writers kept the store too long, and what the store
    ///   says.
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

    /// Lends the transaction to the callers, on the thread that holds it, until it is to end.
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
    /// - Throws: what the body throws, `closed` when the transaction has ended.
    package func use<R>(_ body: (Transaction) throws -> R) throws -> R {
        let transaction = try take()
        defer { give(transaction) }
        return try body(transaction)
    }

    private func take() throws -> Transaction {
        condition.lock()
        defer { condition.unlock() }
        // A lock goes to any thread that asks: one that uses the transaction all the time would keep
        // it from those who wait.
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

    /// Commits and waits for it.
    ///
    /// - Throws: what the store says; nothing was changed then.
    package func commit() throws { try end(by: .commit) }

    /// Takes everything back and waits for it; does nothing when it has ended.
    package func abort() {
        do {
            try end(by: .abort)
        } catch {
            // It ended by an error of its own: nothing was changed.
            return
        }
    }

    /// Has everything taken back, without waiting for it; ends the work of who uses it.
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

    /// Whether it is open and nobody has used it for a while.
    package func hasBeenIdle(for idle: Duration) -> Bool {
        condition.lock()
        defer { condition.unlock() }
        guard case .open = phase, wish == nil else { return false }
        return ContinuousClock.now - lastUsed >= idle
    }

    /// Waits until it has ended, until nobody has used it for a while, or until a time.
    ///
    /// - Returns: whether it has ended.
    /// - Throws: what ends the work of who waits.
    package func waitForEnd(
        idleAtMost idle: Duration, until limit: ContinuousClock.Instant
    ) throws(StoreError) -> Bool {
        condition.lock()
        waiters += 1
        var mayGoOn = true
        defer {
            // Who waited in vain gives the transaction up, which needs the lock once more.
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
    /// Begins a transaction that may write.
    ///
    /// - Throws: code 24 when other writers kept the store longer than given, and what the store
    ///   says.
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
    /// Begins a transaction that sees the store as it is now for as long as it is open.
    ///
    /// - Throws: what the store says.
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

extension StoreError {
    /// That a transaction was used after its end.
    package static var transactionEnded: StoreError {
        StoreError(.closed, "The transaction has ended")
    }
}
