internal import BSONStore

extension StoreBackend {
    /// Runs a command, in its session's transaction where it is part of one.
    func answer(
        _ call: CommandCall, _ rule: CommandDefinition,
        _ answer: (CommandCall, StoreBackend) throws -> CommandOutcome
    ) throws -> CommandOutcome {
        guard let request = call.transaction, request.isTransaction,
            !rule.traits.contains(.endsTransaction)
        else { return try answer(call, self) }
        let session = call.sessionKey
        var entered: SessionTransaction?
        do {
            guard rule.traits.contains(.inTransaction) else {
                throw CommandFailure(
                    263, "Cannot run '\(rule.name)' in a multi-document transaction.")
            }
            if request.starts, let known = try logEntry(session), known.number > request.number {
                throw TransactionTable.tooOld(request.number, known.number)
            }
            let store = store
            let clock = server.clock
            let document = call.session
            entered = try transactions.enter(
                request, session, of: TransactionBounds.owner(call.connection)
            ) { number in
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
        } catch let error as CloseConnectionRequest {
            throw error
        } catch {
            var fault = CommandFailure(error)
            // Ending the transaction under a running command interrupts the command.
            let isGivenUp = fault.code == 11601 && entered?.isAborted == true
            if isGivenUp || fault.code == StoreError.Code.closed.rawValue {
                fault = TransactionTable.aborted(request.number)
            }
            transactions.giveUp(session)
            if ErrorLabels.transient.contains(fault.code) {
                fault.labels.append("TransientTransactionError")
            }
            throw fault
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

    func logEntry(_ session: [UInt8]) throws -> SessionLog.Entry? {
        try store.read { try SessionLog($0).entry(of: session) }
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

    /// Runs a write and returns its reply; a retry under the same number gets the first reply.
    ///
    /// - Throws: 225 (TransactionTooOld), and the errors of the body.
    func reply(
        _ call: CommandCall, _ body: @escaping @Sendable (WriteTransaction) throws -> BSONDocument
    ) throws -> BSONDocument {
        guard let request = call.transaction, !request.isTransaction else {
            return try write(call, body)
        }
        let session = call.sessionKey
        let (reply, closes) = try write(call) { [self] transaction in
            let log = SessionLog(transaction)
            if let known = try log.entry(of: session) {
                guard known.number <= request.number else {
                    throw CommandFailure(
                        225,
                        "Retryable write with txnNumber \(request.number) is prohibited on session "
                            + "because a newer retryable write with txnNumber \(known.number) has "
                            + "already started on this session.")
                }
                if known.number == request.number, let reply = known.reply { return (reply, false) }
            }
            let reply = try body(transaction)
            try log.note(
                SessionLog.Entry(
                    number: request.number, isTransaction: false, reply: reply), of: session)
            return (reply, try isBroken(call))
        }
        if closes { throw CloseConnectionRequest() }
        return reply
    }
}
