internal import BSONStore

/// The app's decisions about refused writes.
extension CollectionPass {
    /// Asks the app about every undecided refused write, one by one, outside any transaction.
    mutating func askAboutRejections() async throws {
        guard configuration.isSet else { return }
        var last: Int64 = 0
        let limit = limits.batchDocuments
        while true {
            let after = last
            let open = try snapshot {
                try $0.records.rejections(.asking, in: $0.collection, after: after, limit: limit)
            }
            guard let newest = open.last else { return }
            last = newest.write.id
            for rejection in open { try await ask(about: rejection) }
        }
    }

    private mutating func ask(about rejection: RejectedWriteRecord) async throws {
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
            try await write { sync in
                try sync.commit(said, to: rejection, failed: problem != nil)
            }
        } catch let cause where SyncTransaction.concernsDocument(cause) {
            failure = self.failure(.handlerFailed, rejection, cause)
            try await write { sync in try sync.commit(nil, to: rejection, failed: true) }
        }
        report.answered += 1
        if let failure { errors.append(failure) }
    }

    private func answer(
        to rejection: RejectedWriteRecord
    ) async throws -> (RejectionAnswer<BSONDocument>?, SyncError?) {
        let policy = configuration.rejection
        guard let ask = policy.ask else {
            return (policy.rule == .pause ? .keepPaused : .revert, nil)
        }
        do {
            let answer = try await withTimeout(limits.handlerTimeout, clock: engine.clock) {
                try await ask(rejection.write)
            }
            return (answer, nil)
        } catch {
            try Task.checkCancellation()
            let isLate = error is TimeoutError
            return (nil, failure(isLate ? .handlerTimeout : .handlerFailed, rejection, error))
        }
    }

    private func failure(
        _ code: SyncError.Code, _ rejection: RejectedWriteRecord, _ cause: any Error
    ) -> SyncError {
        SyncError(
            code, "asking about a refused write failed: \(cause)", namespace: namespace,
            documentID: rejection.write.documentID, underlying: cause)
    }
}

extension SyncTransaction {
    /// Applies a decision, unless the app wrote meanwhile.
    func commit(
        _ answer: RejectionAnswer<BSONDocument>?, to rejection: RejectedWriteRecord, failed: Bool
    ) throws {
        let id = rejection.write.documentID
        let record = try record(id)
        let local = try local(id)
        var edited: BSONDocument?
        if case .edit(let document) = answer { edited = document }
        let facts = RejectionAnswerFacts(
            answer: Self.answer(answer, failed: failed),
            isUnchanged: record?.pause != nil && record?.revision == rejection.revision,
            editChangesNothing: contentEqual(edited, local))
        switch RejectionAnswerDecision.decide(facts) {
        case .void:
            try records.removeRejection(rejection.write.id)
        case .keepPaused:
            try records.decide(rejection, .paused)
            requestRejectionReport()
        case .revert:
            guard let record else { return }
            try records.decide(rejection, .reverted)
            requestRejectionReport()
            try restore(record, local: local)
        case .edit:
            try records.removeRejection(rejection.write.id)
            try setLocal(id, to: edited, orRemoveAs: .byAnswer)
            try noteLocalWrite(before: local, after: edited)
            // Each refused edit counts, so that the questions to the app end.
            guard var edit = try self.record(id) else { return }
            edit.failures = (record?.failures ?? 0) + 1
            try save(edit)
        }
    }

    private static func answer(
        _ answer: RejectionAnswer<BSONDocument>?, failed: Bool
    ) -> RejectionAnswerFacts.Answer {
        switch answer {
        case _ where failed: .failure
        case .revert: .revert
        case .keepPaused: .keepPaused
        case .edit: .edit
        case nil: .failure
        }
    }
}

extension BSONDocument {
    /// Returns the document with an `_id`: its own, or this one in front where it has none.
    ///
    /// - Throws: `StoreError` of code 66 when the document has another `_id`.
    func identified(_ id: BSONValue) throws(StoreError) -> BSONDocument {
        if let own = self["_id"], !own.isSameID(as: id) {
            throw StoreError(.immutableField, "the document has _id \(own), not \(id)")
        }
        return withID(id)
    }
}
