internal import BSONStore

extension StoreBackend {
    /// Carries out a command, in the transaction of its session where it is part of one.
    func answer(
        _ call: CommandCall, _ rule: CommandRule,
        _ answer: (CommandCall, StoreBackend) throws -> CommandOutcome
    ) throws -> CommandOutcome {
        guard let request = call.transaction, request.isTransaction,
            !rule.traits.contains(.endsTransaction)
        else { return try answer(call, self) }
        let session = call.sessionKey
        do {
            guard rule.traits.contains(.inTransaction) else {
                throw CommandFault(
                    263, "Cannot run '\(rule.name)' in a multi-document transaction.")
            }
            if request.starts, let known = try logEntry(session), known.number > request.number {
                throw TransactionTable.tooOld(request.number, known.number)
            }
            let store = store
            let clock = server.clock
            let document = call.session
            _ = try transactions.enter(request, session) { number in
                SessionTransaction(store, session: session, number: number) {
                    WriteStamp(
                        time: clock.advance(), session: document, transaction: number
                    ).comment
                }
            }
            let outcome = try answer(call, self)
            if case .reply(let reply) = outcome, reply["writeErrors"] != nil {
                transactions.giveUp(session)
            }
            return outcome
        } catch {
            var fault = CommandFault(error)
            if fault.code == StoreError.Code.closed.rawValue {
                fault = CommandFault(
                    251, "Transaction with { txnNumber: \(request.number) } has been aborted.")
            }
            transactions.giveUp(session)
            if Self.transient.contains(fault.code) {
                fault.labels.append("TransientTransactionError")
            }
            throw fault
        }
    }

    /// Errors after which the whole transaction may be tried again.
    ///
    /// Source: the server's `error_labels.cpp`: LockTimeout, WriteConflict, SnapshotUnavailable,
    /// NoSuchTransaction, MigrationConflict, PreparedTransactionInProgress.
    private static let transient: Set<Int32> = [24, 112, 246, 251]

    /// The transaction that a command is part of.
    func transaction(of call: CommandCall) -> SessionTransaction? {
        guard let request = call.transaction, request.isTransaction else { return nil }
        return transactions.current(call.sessionKey, request.number)
    }

    func logEntry(_ session: [UInt8]) throws -> SessionLog.Entry? {
        try store.read { try SessionLog($0).entry(of: session) }
    }

    /// Changes the store and makes the answer of it; when the command is sent again under its
    /// number, it is answered as the first time.
    ///
    /// - Throws: 225 (TransactionTooOld), and what the body throws.
    func reply(
        _ call: CommandCall, _ body: @escaping @Sendable (WriteTransaction) throws -> BSONDocument
    ) throws -> BSONDocument {
        guard let request = call.transaction, !request.isTransaction else {
            return try write(call, body)
        }
        let session = call.sessionKey
        return try write(call) { transaction in
            let log = SessionLog(transaction)
            if let known = try log.entry(of: session) {
                guard known.number <= request.number else {
                    throw CommandFault(
                        225,
                        "Retryable write with txnNumber \(request.number) is prohibited on session "
                            + "because a newer retryable write with txnNumber \(known.number) has "
                            + "already started on this session.")
                }
                if known.number == request.number, let reply = known.reply { return reply }
            }
            let reply = try body(transaction)
            try log.note(
                SessionLog.Entry(
                    number: request.number, isTransaction: false, reply: reply), of: session)
            return reply
        }
    }
}
