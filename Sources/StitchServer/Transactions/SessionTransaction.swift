internal import BSONStore

/// Is a transaction of several commands of one session.
///
/// It begins as a snapshot that holds up nobody; the first write makes it the store's only writer,
/// provided that nothing was committed since the snapshot.
final class SessionTransaction: Sendable {
    private enum Holding {
        case nothing
        case snapshot(OpenTransaction<ReadTransaction>, position: Int64)
        case writing(OpenTransaction<WriteTransaction>)
        /// For good: nothing is held any more.
        case committed, aborted
    }

    /// How long the first write waits for other writers, in milliseconds.
    static let patience = 200

    let session: [UInt8]
    let number: Int64
    let startedAt = ContinuousClock.now
    private let store: DocumentStore
    private let stamp: @Sendable () -> BSONValue
    private let holding = Locked(Holding.nothing)
    /// Since when others have waited for its end.
    private let waitedFor = Locked<ContinuousClock.Instant?>(nil)
    /// Lets one of commit and abort end before another looks how it ended.
    private let ending = Locked(())

    /// - Parameter stamp: gives what stands beside the changes in the feed.
    init(
        _ store: DocumentStore, session: [UInt8], number: Int64,
        stamp: @escaping @Sendable () -> BSONValue
    ) {
        self.store = store
        self.session = session
        self.number = number
        self.stamp = stamp
    }

    /// Reads what the transaction sees.
    ///
    /// - Throws: `closed` when it has ended, and what the body throws.
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

    /// Writes in the transaction.
    ///
    /// - Throws: 112 (WriteConflict) when others wrote since it began, or are at it, and `closed`
    ///   when it has ended.
    func write<R>(_ body: (WriteTransaction) throws -> R) throws -> R {
        try writer().use(body)
    }

    /// Becomes the one that writes, if it is not.
    ///
    /// - Throws: as ``write(_:)`` does.
    func beginWriting() throws { _ = try writer() }

    private func writer() throws -> OpenTransaction<WriteTransaction> {
        var begin: Int64?
        switch holding.withLock({ $0 }) {
        case .writing(let transaction): return transaction
        case .snapshot(let snapshot, let position):
            begin = position
            // In memory both would wait for the one connection.
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

    /// Takes a transaction of the store up.
    ///
    /// - Returns: what it held before.
    /// - Throws: `closed` when it was ended while the store was asked for that, or another command
    ///   was faster.
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

    /// Whether others must wait for its end before they can write.
    var keepsOthersOut: Bool {
        holding.withLock { holding in
            switch holding {
            case .writing: true
            case .snapshot: store.location == .inMemory
            case .nothing, .committed, .aborted: false
            }
        }
    }

    /// Whether it keeps others from writing though its client has not used it for a while.
    func keepsOthersOut(unusedFor idle: Duration) -> Bool {
        switch holding.withLock({ $0 }) {
        case .writing(let transaction): transaction.hasBeenIdle(for: idle)
        case .snapshot(let snapshot, _):
            store.location == .inMemory && snapshot.hasBeenIdle(for: idle)
        case .nothing, .committed, .aborted: false
        }
    }

    /// Whether it keeps others from writing though its client has left it alone, or has let them
    /// wait for too long.
    func isOverdue(idle: Duration, grace: Duration) -> Bool {
        guard keepsOthersOut else { return false }
        return keepsOthersOut(unusedFor: idle) || ContinuousClock.now - waitedForSince >= grace
    }

    /// Since when others have waited for its end; from now on at the latest.
    private var waitedForSince: ContinuousClock.Instant {
        waitedFor.withLock { since in
            let first = since ?? .now
            since = first
            return first
        }
    }

    /// Whether everything was taken back.
    var isAborted: Bool {
        holding.withLock { if case .aborted = $0 { true } else { false } }
    }

    /// Makes its changes lasting, with the note that it did; does nothing when they are.
    ///
    /// - Throws: `closed` when it was aborted; what the store says, and it is aborted then.
    func commit() throws {
        try ending.withLock { _ in
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

    private func commit(_ transaction: OpenTransaction<WriteTransaction>) throws {
        do {
            try transaction.use { transaction in
                try SessionLog(transaction).note(
                    SessionLog.Entry(number: number, isTransaction: true, reply: nil),
                    of: session)
            }
        } catch {
            transaction.abort()
            throw error
        }
        try transaction.commit()
    }

    /// Takes everything back, for good.
    ///
    /// - Returns: whether nothing of it lasts; `false` when it was committed.
    @discardableResult
    func abort() -> Bool {
        ending.withLock { _ in
            switch end(as: .aborted) {
            case .nothing, .aborted: return true
            case .snapshot(let snapshot, _): snapshot.abort()
            case .writing(let transaction): transaction.abort()
            case .committed: return false
            }
            return true
        }
    }

    /// Takes everything back, for good, and ends the command that uses it; waits for nobody.
    ///
    /// - Returns: whether nothing of it lasts; `false` when it was committed, or is about to be.
    func giveUp() -> Bool {
        switch end(as: .aborted) {
        case .nothing, .aborted: return true
        case .snapshot(let snapshot, _): snapshot.giveUp()
        case .writing(let transaction): transaction.giveUp()
        case .committed: return false
        }
        return true
    }

    /// Lets nobody use it from now on, unless it has ended before.
    ///
    /// - Returns: what it held, or how it has ended.
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

    /// Waits until it has ended, nobody used it for a while, or others have waited for too long.
    ///
    /// - Returns: whether it holds up nobody now.
    /// - Throws: what ends the work of who waits.
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
