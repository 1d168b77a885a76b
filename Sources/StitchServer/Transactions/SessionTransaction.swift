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

    private enum EndCall {
        case none
        case awaited(@Sendable () -> Void)
        case over
    }

    /// The milliseconds for which a read waits for the connection of a store in memory.
    private static let readPatience = 200
    /// The milliseconds for which a first write waits for the lock once it is its turn: for what
    /// the writer before it undoes.
    private static let lockPatience = 500

    let session: [UInt8]
    let number: Int64
    /// The owner, which takes turns with other owners to write; empty for none.
    let owner: [UInt8]
    /// Whether it is a gateway's for one write, which takes several commands there and ends soon.
    let isBrief: Bool
    let startedAt = ContinuousClock.now
    private let store: DocumentStore
    private let stamp: @Sendable () -> BSONValue
    private let holding = Locked(Holding.nothing)
    /// The times since which writers of the same owner, and of others, have waited for its end.
    private let waitedFor = Locked<[Bool: ContinuousClock.Instant]>([:])
    /// What is called once it has ended.
    private let endCall = Locked(EndCall.none)
    /// Whether a thread commits or aborts it; others check how it ended afterwards.
    private let isEnding = ThreadCondition(false)

    /// - Parameter stamp: returns the comment for the changes in the feed.
    init(
        _ store: DocumentStore, session: [UInt8], number: Int64, owner: [UInt8] = [],
        isBrief: Bool = false, stamp: @escaping @Sendable () -> BSONValue
    ) {
        self.store = store
        self.owner = owner
        self.isBrief = isBrief
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
            let snapshot = try OpenTransaction.reading(store, waitingAtMost: Self.readPatience)
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
            transaction = try OpenTransaction.writing(store, waitingAtMost: Self.lockPatience)
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

    func isOverdue(forOther isOther: Bool, _ patience: WriterPatience) -> Bool {
        guard keepsOthersOut else { return false }
        return keepsOthersOut(unusedFor: patience.idleMax)
            || limit(forOther: isOther, patience) <= .now
    }

    /// The time at which it must have ended, since a writer waits.
    private func limit(
        forOther isOther: Bool, _ patience: WriterPatience
    ) -> ContinuousClock.Instant {
        waitedFor.withLock { times in
            let since = times[isOther] ?? .now
            times[isOther] = since
            return since + patience.grace(forOther: isOther)
        }
    }

    /// Calls back once when it has ended; at once if it has ended before.
    func whenEnded(_ body: @escaping @Sendable () -> Void) {
        let isOver = endCall.withLock { call in
            if case .over = call { return true }
            call = .awaited(body)
            return false
        }
        if isOver { body() }
    }

    private func noteEnd() {
        let before = endCall.withLock { call in
            defer { call = .over }
            return call
        }
        if case .awaited(let body) = before { body() }
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
            defer { noteEnd() }
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
                defer { noteEnd() }
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
        noteEnd()
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

    /// Waits until it has ended, or must end for a writer that waits.
    ///
    /// - Returns: whether it no longer blocks others.
    /// - Throws: the interruption of the waiting command.
    func waitForEnd(
        forOther isOther: Bool, _ patience: WriterPatience
    ) throws(StoreError) -> Bool {
        let limit = limit(forOther: isOther, patience)
        switch holding.withLock({ $0 }) {
        case .nothing, .committed, .aborted: return true
        case .snapshot(let snapshot, _):
            guard store.location == .inMemory else { return true }
            return try snapshot.waitForEnd(idleAtMost: patience.idleMax, until: limit)
        case .writing(let transaction):
            return try transaction.waitForEnd(idleAtMost: patience.idleMax, until: limit)
        }
    }

    static var conflict: CommandFailure {
        CommandFailure(
            112,
            "Caused by :: Write conflict during plan execution and yielding is disabled. :: "
                + "Please retry your operation or multi-document transaction.")
    }
}
