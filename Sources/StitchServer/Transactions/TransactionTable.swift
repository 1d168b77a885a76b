internal import BSONStore

/// Holds the transactions of all sessions.
final class TransactionTable: Sendable {
    private enum Phase: Sendable {
        case inProgress(SessionTransaction)
        case committed
        case aborted
    }

    private struct Entry: Sendable {
        let number: Int64
        var phase: Phase
    }

    /// How long a transaction may take.
    ///
    /// Source: the server's parameter `transactionLifetimeLimitSeconds`.
    static let lifetime: Duration = .seconds(60)
    /// How long a transaction may be idle while others wait to write.
    static let idleMax: Duration = .seconds(1)

    private let entries = Locked<[[UInt8]: Entry]>([:])

    /// The transaction that a command is part of; begun when the command says so.
    ///
    /// - Throws: 251 (NoSuchTransaction), 225 (TransactionTooOld), 256 (TransactionCommitted).
    func enter(
        _ request: TransactionRequest, _ session: [UInt8],
        begin: (Int64) -> SessionTransaction
    ) throws(CommandFault) -> SessionTransaction {
        var replaced: SessionTransaction?
        defer { replaced?.abort() }
        return try entries.withLock { (entries) throws(CommandFault) in
            let known = entries[session]
            if let known, known.number > request.number {
                throw Self.tooOld(request.number, known.number)
            }
            guard request.starts else {
                guard let known, known.number == request.number else {
                    throw Self.unknown(request.number, known?.number)
                }
                switch known.phase {
                case .inProgress(let transaction): return transaction
                case .committed: throw Self.committed(request.number)
                case .aborted: throw Self.aborted(request.number)
                }
            }
            if let known, known.number == request.number {
                throw CommandFault(
                    117,
                    "Only servers in a sharded cluster can start a new transaction at the active "
                        + "transaction number")
            }
            if case .inProgress(let transaction)? = known?.phase { replaced = transaction }
            let transaction = begin(request.number)
            entries[session] = Entry(number: request.number, phase: .inProgress(transaction))
            return transaction
        }
    }

    /// The transaction in progress with a number.
    func current(_ session: [UInt8], _ number: Int64) -> SessionTransaction? {
        entries.withLock { entries in
            guard let known = entries[session], known.number == number,
                case .inProgress(let transaction) = known.phase
            else { return nil }
            return transaction
        }
    }

    /// Commits; a transaction that was committed is so still.
    ///
    /// - Parameter wasCommitted: whether the log on disk says so, for what is not known here.
    /// - Throws: 251 (NoSuchTransaction), and what the store says.
    func commit(
        _ number: Int64, _ session: [UInt8], wasCommitted: () throws -> Bool
    ) throws {
        let known = entries.withLock { $0[session] }
        guard let known, known.number == number else {
            if try wasCommitted() { return }
            throw Self.unknown(number, known?.number)
        }
        switch known.phase {
        case .committed: return
        case .aborted: throw Self.aborted(number)
        case .inProgress(let transaction):
            do {
                try transaction.commit()
            } catch {
                set(session, number, .aborted)
                throw error
            }
            set(session, number, .committed)
        }
    }

    /// Aborts.
    ///
    /// - Throws: 251 (NoSuchTransaction), 256 (TransactionCommitted).
    func abort(_ number: Int64, _ session: [UInt8]) throws(CommandFault) {
        let known = entries.withLock { $0[session] }
        guard let known, known.number == number else {
            throw Self.unknown(number, known?.number)
        }
        switch known.phase {
        case .committed: throw Self.committed(number)
        case .aborted: throw Self.aborted(number)
        case .inProgress(let transaction):
            guard transaction.abort() else { throw Self.committed(number) }
            set(session, number, .aborted)
        }
    }

    private func set(_ session: [UInt8], _ number: Int64, _ phase: Phase) {
        entries.withLock { entries in
            guard entries[session]?.number == number else { return }
            entries[session]?.phase = phase
        }
    }

    /// Gives a session's transaction up, after an error or with the session.
    func giveUp(_ session: [UInt8]) {
        guard let known = entries.withLock({ $0[session] }),
            case .inProgress(let transaction) = known.phase
        else { return }
        if transaction.abort() { set(session, known.number, .aborted) }
    }

    /// Forgets ended sessions.
    func forget(_ session: [UInt8]) {
        giveUp(session)
        entries.withLock { $0[session] = nil }
    }

    /// Gives up what takes too long, or keeps others from writing though its client has left it
    /// alone; waits for none of them.
    func tidy(olderThan age: Duration = lifetime, whileOthersWait: Bool) {
        let limit = ContinuousClock.now - age
        for transaction in inProgress
        where transaction.startedAt <= limit
            || whileOthersWait && transaction.keepsOthersOut(unusedFor: Self.idleMax)
        {
            if transaction.giveUp() {
                set(transaction.session, transaction.number, .aborted)
            }
        }
    }

    /// Gives all up, and waits for it.
    func giveUpAll() {
        for transaction in inProgress { giveUp(transaction.session) }
    }

    /// Lets another writer in: waits for the transaction that keeps it out, and gives that up when
    /// its client has left it alone for a while.
    func makeWay() {
        for transaction in inProgress where transaction.keepsOthersOut {
            if !transaction.waitForEnd(idleAtMost: Self.idleMax) { giveUp(transaction.session) }
        }
    }

    /// Lets a transaction in that wants to write: gives up what keeps it out and was left alone.
    func makeWay(for other: SessionTransaction) {
        guard !other.keepsOthersOut else { return }
        for transaction in inProgress
        where transaction.keepsOthersOut(unusedFor: Self.idleMax) {
            giveUp(transaction.session)
        }
    }

    private var inProgress: [SessionTransaction] {
        entries.withLock { entries in
            entries.values.compactMap { entry in
                if case .inProgress(let transaction) = entry.phase { transaction } else { nil }
            }
        }
    }

    private static func unknown(_ number: Int64, _ active: Int64?) -> CommandFault {
        CommandFault(
            251,
            "Given transaction number \(number) does not match any in-progress transactions. "
                + "The active transaction number is \(active ?? -1)")
    }

    private static func committed(_ number: Int64) -> CommandFault {
        CommandFault(256, "Transaction with { txnNumber: \(number) } has been committed.")
    }

    static func aborted(_ number: Int64) -> CommandFault {
        CommandFault(251, "Transaction with { txnNumber: \(number) } has been aborted.")
    }

    static func tooOld(_ number: Int64, _ newer: Int64) -> CommandFault {
        CommandFault(
            225,
            "Cannot start transaction \(number) on session because a newer transaction with "
                + "txnNumber \(newer) has already started on this session.")
    }
}
