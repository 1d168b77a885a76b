internal import BSONStore

/// A multi-document transaction of a session.
///
/// It starts as a snapshot that blocks no other session. The first write makes it the store's only
/// writer, provided that no commit happened since the snapshot.
final class SessionTransaction: HeldTransaction {
    private enum Holding {
        case nothing
        case snapshot(OpenTransaction<ReadTransaction>, position: Int64)
        case writing(OpenTransaction<WriteTransaction>)
        /// Ended for good; it holds nothing any more.
        case committed, aborted
    }

    /// The milliseconds for which the first write waits for other writers.
    static let patience = 200

    let session: [UInt8]
    let number: Int64
    let startedAt = ContinuousClock.now
    private let store: DocumentStore
    private let stamp: @Sendable () -> BSONValue
    private let holding = Locked(Holding.nothing)
    /// The time since which other writers have waited for its end.
    private let waitedFor = Locked<ContinuousClock.Instant?>(nil)
    /// Whether a thread commits or aborts it; others check how it ended afterwards.
    private let isEnding = ThreadCondition(false)

    /// - Parameter stamp: returns the comment for the changes in the feed.
    init(
        _ store: DocumentStore, session: [UInt8], number: Int64,
        stamp: @escaping @Sendable () -> BSONValue
    ) {
        self.store = store
        self.session = session
        self.number = number
        self.stamp = stamp
    }

    /// Runs a body on the state that the transaction sees.
    ///
    /// - Throws: `closed` when it has ended, and the errors of the body.
    func read<R>(_ body: (ReadTransaction) throws -> R) throws -> R {
        switch holding.withLock({ $0 }) {
        case .writing(let transaction): return try transaction.use(body)
        case .snapshot(let snapshot, _): return try snapshot.use(body)
        case .nothing:
            let snapshot = try OpenTransaction.reading(store, waitingAtMost: Self.patience)
            do {
                let position = try snapshot.use { try $0.changePosition }
                try hold(.snapshot(snapshot, position: position))
            } catch {
                snapshot.abort()
                throw error
            }
            return try snapshot.use(body)
        case .committed, .aborted: throw StoreError.transactionEnded
        }
    }

    /// Runs a body that writes in the transaction.
    ///
    /// - Throws: 112 (WriteConflict) when others wrote since it started, or are writing, and
    ///   `closed` when it has ended.
    func write<R>(_ body: (WriteTransaction) throws -> R) throws -> R {
        try writer().use(body)
    }

    /// Acquires the write lock, unless it already has it.
    ///
    /// - Throws: the errors of ``write(_:)``.
    func beginWriting() throws { _ = try writer() }

    private func writer() throws -> OpenTransaction<WriteTransaction> {
        var begin: Int64?
        switch holding.withLock({ $0 }) {
        case .writing(let transaction): return transaction
        case .snapshot(let snapshot, let position):
            begin = position
            // In an in-memory store, both would wait for the one connection.
            snapshot.abort()
        case .nothing: break
        case .committed, .aborted: throw StoreError.transactionEnded
        }
        let transaction: OpenTransaction<WriteTransaction>
        do {
            transaction = try OpenTransaction.writing(store, waitingAtMost: Self.patience)
        } catch let error as StoreError where error.code == .lockTimeout {
            throw Self.conflict
        }
        do {
            if case .snapshot(let snapshot, _) = try hold(.writing(transaction)) {
                snapshot.abort()
            }
        } catch {
            transaction.abort()
            throw error
        }
        try transaction.use { transaction in
            if let begin, try transaction.changePosition != begin { throw Self.conflict }
            transaction.comment = stamp()
        }
        return transaction
    }

    /// Adopts a store transaction.
    ///
    /// - Returns: what it held before.
    /// - Throws: `closed` when the transaction ended meanwhile, or another command was faster.
    @discardableResult
    private func hold(_ next: Holding) throws(StoreError) -> Holding {
        try holding.withLock { (holding) throws(StoreError) in
            switch (holding, next) {
            case (.nothing, _), (.snapshot, .writing):
                defer { holding = next }
                return holding
            default: throw StoreError.transactionEnded
            }
        }
    }

    /// Whether it blocks other writers.
    var keepsOthersOut: Bool {
        holding.withLock { holding in
            switch holding {
            case .writing: true
            case .snapshot: store.location == .inMemory
            case .nothing, .committed, .aborted: false
            }
        }
    }

    /// Whether it blocks other writers although its client has not used it for a while.
    func keepsOthersOut(unusedFor idle: Duration) -> Bool {
        switch holding.withLock({ $0 }) {
        case .writing(let transaction): transaction.hasBeenIdle(for: idle)
        case .snapshot(let snapshot, _):
            store.location == .inMemory && snapshot.hasBeenIdle(for: idle)
        case .nothing, .committed, .aborted: false
        }
    }

    /// Whether it blocks other writers while idle, or has done so for too long.
    func isOverdue(idle: Duration, grace: Duration) -> Bool {
        guard keepsOthersOut else { return false }
        return keepsOthersOut(unusedFor: idle) || ContinuousClock.now - waitedForSince >= grace
    }

    /// The time since which other writers have waited for its end; set to now when first read.
    private var waitedForSince: ContinuousClock.Instant {
        waitedFor.withLock { since in
            let first = since ?? .now
            since = first
            return first
        }
    }

    /// Whether the transaction was aborted.
    var isAborted: Bool {
        holding.withLock { if case .aborted = $0 { true } else { false } }
    }

    /// Commits the changes together with their entry in the session log; does nothing if committed
    /// already.
    ///
    /// - Throws: `closed` when it was aborted; the errors of the store, which abort it, as does the end
    ///   of the calling command's time while another command uses the transaction.
    func commit() throws {
        try ending {
            switch end(as: .committed) {
            case .nothing, .committed: return
            case .snapshot(let snapshot, _): snapshot.abort()
            case .writing(let transaction):
                do {
                    try commit(transaction)
                } catch {
                    holding.withLock { $0 = .aborted }
                    throw error
                }
            case .aborted: throw StoreError.transactionEnded
            }
        }
    }

    /// Runs the end of the transaction, after an end by another thread.
    ///
    /// - Throws: the errors of the body, and the end of the calling command's time while it waits.
    private func ending<R>(_ body: () throws -> R) throws -> R {
        try isEnding.wait { isEnding -> ThreadWait<Void> in
            guard isEnding else {
                isEnding = true
                return .done(())
            }
            try WorkBudget.check()
            return .forSignalOr(milliseconds: Self.checkMilliseconds)
        }
        defer { isEnding.withLock(waking: .all) { $0 = false } }
        return try body()
    }

    private static let checkMilliseconds = 50

    private func commit(_ transaction: OpenTransaction<WriteTransaction>) throws {
        do {
            try transaction.use { transaction in
                try SessionLog(transaction).note(
                    SessionLog.Entry(number: number, isTransaction: true, reply: nil),
                    of: session)
            }
            try transaction.commit()
        } catch {
            transaction.abort()
            throw error
        }
    }

    /// Reverts all changes and ends the transaction.
    ///
    /// - Returns: whether no change persists; `false` when it was committed, or when it is being
    ///   committed and the calling command's time is over.
    @discardableResult
    func abort() -> Bool {
        do {
            return try ending {
                switch end(as: .aborted) {
                case .nothing, .aborted: return true
                case .snapshot(let snapshot, _): snapshot.abort()
                case .writing(let transaction): transaction.abort()
                case .committed: return false
                }
                return true
            }
        } catch {
            return giveUp()
        }
    }

    /// Reverts all changes, ends the transaction and interrupts the command that uses it; does not
    /// wait.
    ///
    /// - Returns: whether no change persists; `false` when it was committed or is being
    ///   committed.
    func giveUp() -> Bool {
        switch end(as: .aborted) {
        case .nothing, .aborted: return true
        case .snapshot(let snapshot, _): snapshot.giveUp()
        case .writing(let transaction): transaction.giveUp()
        case .committed: return false
        }
        return true
    }

    /// Makes the transaction unusable, unless it has ended before.
    ///
    /// - Returns: what it held, or how it had ended.
    private func end(as how: Holding) -> Holding {
        holding.withLock { holding in
            let held = holding
            switch held {
            case .nothing, .snapshot, .writing: holding = how
            case .committed, .aborted: break
            }
            return held
        }
    }

    /// Waits until it has ended, has been idle for a while, or has blocked others for too long.
    ///
    /// - Returns: whether it no longer blocks others.
    /// - Throws: the interruption of the waiting command.
    func waitForEnd(idleAtMost idle: Duration, grace: Duration) throws(StoreError) -> Bool {
        let limit = waitedForSince + grace
        switch holding.withLock({ $0 }) {
        case .nothing, .committed, .aborted: return true
        case .snapshot(let snapshot, _):
            guard store.location == .inMemory else { return true }
            return try snapshot.waitForEnd(idleAtMost: idle, until: limit)
        case .writing(let transaction):
            return try transaction.waitForEnd(idleAtMost: idle, until: limit)
        }
    }

    static var conflict: CommandFailure {
        CommandFailure(
            112,
            "Caused by :: Write conflict during plan execution and yielding is disabled. :: "
                + "Please retry your operation or multi-document transaction.")
    }
}
