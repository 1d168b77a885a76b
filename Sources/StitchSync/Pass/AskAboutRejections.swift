internal import BSONStore

/// The app's decisions about refused writes.
struct AskAboutRejections {
    let context: PassContext

    /// Asks the app about every undecided refused write, one by one, outside any transaction.
    func run() async throws {
        guard context.configuration.isSet else { return }
        var last: Int64 = 0
        let limit = context.limits.batchDocuments
        while true {
            let after = last
            let open = try context.snapshot {
                try $0.rejectedWrites.all(.asking, in: $0.collection, after: after, limit: limit)
            }
            guard let newest = open.last else { return }
            last = newest.write.id
            for rejection in open { try await ask(about: rejection) }
        }
    }

    private func ask(about rejection: RejectedWriteRecord) async throws {
        var (answer, failure) = try await answer(to: rejection)
        if case .edit(let edited) = answer {
            do {
                answer = .edit(try edited.withoutVersion.identified(rejection.write.documentID))
            } catch {
                failure = self.failure(.handlerChangedID, rejection, error)
                answer = nil
            }
        }
        do {
            let (said, problem) = (answer, failure)
            try await context.write { sync in
                try AnswerRejection(sync: sync).commit(said, to: rejection, failed: problem != nil)
            }
        } catch let cause where SyncTransaction.concernsDocument(cause) {
            failure = self.failure(.handlerFailed, rejection, cause)
            try await context.write { sync in
                try AnswerRejection(sync: sync).commit(nil, to: rejection, failed: true)
            }
        }
        context.findings.count { $0.answered += 1 }
        if let failure { context.findings.add(failure) }
    }

    private func answer(
        to rejection: RejectedWriteRecord
    ) async throws -> (RejectionAnswer<BSONDocument>?, SyncError?) {
        let policy = context.configuration.rejection
        guard let ask = policy.ask else {
            return (policy.rule == .pause ? .keepPaused : .revert, nil)
        }
        do {
            let answer = try await withTimeout(
                context.limits.handlerTimeout, clock: context.engine.clock
            ) {
                try await ask(rejection.write)
            }
            return (answer, nil)
        } catch {
            try Task.checkCancellation()
            let code: SyncError.Code =
                switch error {
                case is TimeoutError: .handlerTimeout
                case is EditionDecodingFailure: .decodingFailed
                default: .handlerFailed
                }
            return (nil, failure(code, rejection, error))
        }
    }

    private func failure(
        _ code: SyncError.Code, _ rejection: RejectedWriteRecord, _ cause: any Error
    ) -> SyncError {
        SyncError(
            code, "asking about a refused write failed: \(cause)", namespace: context.namespace,
            documentID: rejection.write.documentID, underlying: cause)
    }
}
