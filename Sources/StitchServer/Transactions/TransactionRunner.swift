internal import BSONStore
internal import Synchronization

/// The reads and writes of commands: in the session's transaction, on a snapshot, or alone.
final class TransactionRunner: Sendable {
    /// The documents.
    let store: DocumentStore
    /// The rules that apply to the users.
    let rules: UserRules
    /// The transactions of sessions.
    let transactions: TransactionTable<SessionTransaction>
    /// The snapshots that are read outside of transactions.
    let snapshots = SnapshotTable()
    private let server: ServerContext
    /// The number of commands that are writing.
    private let writers = Atomic<Int>(0)
    /// The transaction of an excerpt, in which all is read and written; `nil` for another store.
    ///
    /// There each change names the statement that made it, in its comment.
    private let excerptTransaction: OpenTransaction<WriteTransaction>?
    /// The place of the documents that users under rules read; `nil` for the store itself.
    private let candidates: (any CandidateSource)?

    init(
        _ store: DocumentStore, _ server: ServerContext, _ rules: UserRules,
        in excerptTransaction: OpenTransaction<WriteTransaction>? = nil,
        readingFrom candidates: (any CandidateSource)? = nil
    ) {
        self.store = store
        self.server = server
        self.rules = rules
        self.excerptTransaction = excerptTransaction
        self.candidates = candidates
        transactions = TransactionTable(bounds: server.settings.transactions)
    }

    /// Notes that the following changes belong to a statement of the command, by its index.
    func begin(statement index: Int, in transaction: WriteTransaction) {
        if excerptTransaction != nil { transaction.comment = .int64(Int64(index)) }
    }

    /// Runs a command, in its session's transaction where it is part of one.
    ///
    /// Outside of transactions it only calls the closure. The command itself calls ``read(_:_:)`` or
    /// ``write(_:_:)``, which apply the rules.
    func run(
        _ call: CommandCall, _ answer: () throws -> CommandOutcome
    ) throws -> CommandOutcome {
        guard let request = call.transaction, request.isTransaction,
            !call.signature.traits.contains(.endsTransaction)
        else { return try answer() }
        let session = call.sessionKey
        let (store, clock, document) = (store, server.clock, call.session)
        let last = request.starts ? try logEntry(session)?.number : nil
        let (owner, isBrief) = (call.writeOwner, call.isOfBriefTransaction)
        return try transactions.run(request, call, lastNumber: last) { number in
            SessionTransaction(
                store, session: session, number: number, owner: owner, isBrief: isBrief
            ) {
                WriteStamp(
                    time: clock.advance(), session: document, transaction: number
                ).comment
            }
        } answer: { _ in
            try answer()
        }
    }

    /// Returns the transaction of a command; `nil` outside of transactions.
    ///
    /// - Throws: `closed` when the transaction was aborted since the command arrived, or has not
    ///   begun.
    func transaction(of call: CommandCall) throws(StoreError) -> SessionTransaction? {
        guard let request = call.transaction, request.isTransaction else { return nil }
        guard let current = transactions.current(call.sessionKey, request.number) else {
            throw StoreError.transactionEnded
        }
        return current
    }

    /// Returns what a session did last.
    func logEntry(_ session: [UInt8]) throws -> SessionLog.Entry? {
        try store.read { try SessionLog($0).entry(of: session) }
    }

    /// Runs a body on one state of the store.
    func read<R>(_ call: CommandCall, _ body: (ReadTransaction) throws -> R) throws -> R {
        try call.checkTime()
        let ruleGuard = try rules.ruleGuard(call)
        let guarded: (ReadTransaction) throws -> R = { transaction in
            try call.discardingLateResult {
                try transaction.withAccessPolicy(ruleGuard, readingFrom: self.candidates) {
                    try CollectionUUIDCheck.check(call, in: transaction)
                    return try body(transaction)
                }
            }
        }
        if let excerptTransaction { return try excerptTransaction.use(guarded) }
        if let transaction = try transaction(of: call) { return try transaction.read(guarded) }
        if let snapshot = call.snapshot {
            let owner = TransactionBounds.owner(call.connection)
            return try snapshots.read(snapshot, of: owner, store, guarded)
        }
        // An in-memory store has one connection, which readers need, too.
        if store.location == .inMemory { try transactions.makeWay(of: call.writeOwner) }
        return try store.read(guarded)
    }

    /// Runs a body that changes the store, in one transaction.
    ///
    /// Writes that arrive during another commit are committed together.
    func write<R: Sendable>(
        _ call: CommandCall, _ body: @escaping @Sendable (WriteTransaction) throws -> R
    ) throws -> R {
        try unchecked(call) { transaction in
            try CollectionUUIDCheck.check(call, in: transaction)
            return try body(transaction)
        }
    }

    /// Runs a body that changes the store, whatever UUIDs its collections have.
    private func unchecked<R: Sendable>(
        _ call: CommandCall, _ body: @escaping @Sendable (WriteTransaction) throws -> R
    ) throws -> R {
        try call.checkTime()
        let ruleGuard = try rules.ruleGuard(call)
        let bypasses = ruleGuard == nil && call.flag("bypassDocumentValidation")
        let guarded: @Sendable (WriteTransaction) throws -> R = { transaction in
            transaction.bypassesValidation = bypasses
            return try call.discardingLateResult {
                try transaction.withAccessPolicy(ruleGuard, readingFrom: self.candidates) {
                    try body(transaction)
                }
            }
        }
        if let excerptTransaction { return try excerptTransaction.useAsOwn(guarded) }
        if let transaction = try transaction(of: call) {
            try transactions.makeWay(for: transaction)
            return try transaction.write { transaction in
                transaction.leavesCappedAlone = true
                return try guarded(transaction)
            }
        }
        let place = transactions.turns.enter(call.writeOwner, .single)
        defer { transactions.turns.leave(place) }
        try transactions.makeWay(for: place)
        let stamped: @Sendable (WriteTransaction) throws -> R = { [self] transaction in
            // Taken inside the transaction, so that times grow in the order of commits.
            transaction.comment = WriteStamp(time: server.clock.advance()).comment
            return try guarded(transaction)
        }
        let others = writers.add(1, ordering: .relaxed).oldValue
        defer { writers.subtract(1, ordering: .relaxed) }
        // A single writer does not need another thread to share the commit.
        guard others > 0 else { return try store.write(stamped) }
        return try store.writeInGroup(of: place.owner, stamped)
    }

    /// The turn of a write that is no command's: it comes after the writers before it, and a
    /// transaction that is idle or blocks it for too long gives way.
    var turn: WriteTurn {
        WriteTurn { [transactions] write in
            let place = transactions.turns.enter([], .single)
            defer { transactions.turns.leave(place) }
            try transactions.makeWay(for: place)
            try write()
        }
    }

    /// Runs a write and returns its reply; a retry under the same number gets the first reply.
    ///
    /// - Throws: 225 (TransactionTooOld), 72 for the number of a transaction, and the errors of the
    ///   body.
    func reply(
        _ call: CommandCall, _ body: @escaping @Sendable (WriteTransaction) throws -> BSONDocument
    ) throws -> BSONDocument {
        guard let request = call.transaction, !request.isTransaction else {
            return try write(call, body)
        }
        let session = call.sessionKey
        guard transactions.current(session, request.number) == nil else {
            throw TransactionFailures.mustNameTransaction
        }
        let (reply, closes) = try unchecked(call) { [self] transaction in
            let log = SessionLog(transaction)
            if let known = try log.entry(of: session) {
                guard known.number <= request.number else {
                    throw TransactionFailures.retryTooOld(request.number, known.number)
                }
                guard known.number < request.number || !known.isTransaction else {
                    throw TransactionFailures.mustNameTransaction
                }
                if known.number == request.number, let reply = known.reply { return (reply, false) }
            }
            // A retry gets its reply, whatever became of the collection since.
            try CollectionUUIDCheck.check(call, in: transaction)
            let reply = try body(transaction)
            try log.note(
                SessionLog.Entry(
                    number: request.number, isTransaction: false, reply: reply), of: session)
            return (reply, try isBroken(call))
        }
        if closes { throw CloseConnectionRequest() }
        return reply
    }

    /// Makes a retryable write fail as a test asks for it; the fail point counts each document.
    ///
    /// - Returns: whether to close the connection after the write.
    private func isBroken(_ call: CommandCall) throws -> Bool {
        let statements = ["documents", "updates", "deletes"].map {
            call.sequences[$0]?.count ?? call.array($0)?.count ?? 0
        }
        var fault: BSONDocument?
        for _ in 0..<max(1, statements.reduce(0, +)) where fault == nil {
            fault = server.failPoints.fault("onPrimaryTransactionalWrite") { _ in true }
        }
        guard let fault else { return false }
        let closes = fault["closeConnection"]?.isTrue ?? true
        guard let code = fault["failBeforeCommitExceptionCode"]?.wholeNumber else { return closes }
        guard !closes else { throw CloseConnectionRequest() }
        throw CommandFailure(
            Int32(clamping: code), "onPrimaryTransactionalWrite fail point enabled")
    }
}
