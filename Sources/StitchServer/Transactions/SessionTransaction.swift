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
    }

    /// How long the first write waits for other writers, in milliseconds.
    private static let patience = 200

    let session: [UInt8]
    let number: Int64
    let startedAt = ContinuousClock.now
    private let store: DocumentStore
    private let stamp: @Sendable () -> BSONValue
    private let holding = Locked(Holding.nothing)

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
    func read<R>(_ body: (ReadTransaction) throws -> R) throws -> R {
        switch holding.withLock({ $0 }) {
        case .writing(let transaction): return try transaction.use(body)
        case .snapshot(let snapshot, _): return try snapshot.use(body)
        case .nothing:
            let snapshot = try OpenTransaction.reading(store, waitingAtMost: Self.patience)
            let position = try snapshot.use { try $0.changePosition }
            holding.withLock { $0 = .snapshot(snapshot, position: position) }
            return try snapshot.use(body)
        }
    }

    /// Writes in the transaction.
    ///
    /// - Throws: 112 (WriteConflict) when others wrote since it began, or are at it.
    func write<R>(_ body: (WriteTransaction) throws -> R) throws -> R {
        try writer().use(body)
    }

    private func writer() throws -> OpenTransaction<WriteTransaction> {
        var begin: Int64?
        switch holding.withLock({ $0 }) {
        case .writing(let transaction): return transaction
        case .snapshot(let snapshot, let position):
            begin = position
            snapshot.abort()
            holding.withLock { $0 = .nothing }
        case .nothing: break
        }
        let transaction: OpenTransaction<WriteTransaction>
        do {
            transaction = try OpenTransaction.writing(store, waitingAtMost: Self.patience)
        } catch let error as StoreError where error.code.rawValue == 24 {
            throw Self.conflict
        }
        holding.withLock { $0 = .writing(transaction) }
        try transaction.use { transaction in
            if let begin, try transaction.changePosition != begin { throw Self.conflict }
            transaction.comment = stamp()
        }
        return transaction
    }

    /// Whether others must wait for its end before they can write.
    var keepsOthersOut: Bool {
        holding.withLock { holding in
            switch holding {
            case .writing: true
            case .snapshot: store.location == .inMemory
            case .nothing: false
            }
        }
    }

    /// Whether it keeps others from writing though its client has not used it for a while.
    func keepsOthersOut(unusedFor idle: Duration) -> Bool {
        switch holding.withLock({ $0 }) {
        case .writing(let transaction): transaction.isLeftAlone(for: idle)
        case .snapshot(let snapshot, _):
            store.location == .inMemory && snapshot.isLeftAlone(for: idle)
        case .nothing: false
        }
    }

    /// Makes its changes lasting, with the note that it did.
    func commit() throws {
        guard case .writing(let transaction) = take() else { return }
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

    /// Takes everything back.
    func abort() {
        if case .writing(let transaction) = take() { transaction.abort() }
    }

    /// Ends a snapshot; what is left is a transaction for writing, or nothing.
    private func take() -> Holding {
        let held = holding.withLock { holding in
            defer { holding = .nothing }
            return holding
        }
        if case .snapshot(let snapshot, _) = held { snapshot.abort() }
        return held
    }

    /// Waits until it has ended, or nobody used it for a while; `true` when it holds up nobody now.
    func waitForEnd(idleAtMost idle: Duration) -> Bool {
        switch holding.withLock({ $0 }) {
        case .nothing: true
        case .snapshot(let snapshot, _):
            store.location != .inMemory || snapshot.waitForEnd(idleAtMost: idle)
        case .writing(let transaction): transaction.waitForEnd(idleAtMost: idle)
        }
    }

    static var conflict: CommandFault {
        CommandFault(
            112,
            "Caused by :: Write conflict during plan execution and yielding is disabled. :: "
                + "Please retry your operation or multi-document transaction.")
    }
}
