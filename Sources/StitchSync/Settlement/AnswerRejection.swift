internal import BSONStore

/// The storage of the app's decision about a refused write.
struct AnswerRejection {
    let sync: SyncTransaction

    /// Applies a decision, unless the app wrote meanwhile.
    func commit(
        _ answer: RejectionAnswer<BSONDocument>?, to rejection: RejectedWriteRecord, failed: Bool
    ) throws {
        let id = rejection.write.documentID
        let record = try sync.record(id)
        let local = try sync.local(id)
        var edited: BSONDocument?
        if case .edit(let document) = answer { edited = document }
        let facts = RejectionAnswerFacts(
            answer: Self.answer(answer, failed: failed),
            isUnchanged: record?.pause != nil && record?.revision == rejection.revision,
            editChangesNothing: contentEqual(edited, local))
        switch RejectionAnswerDecision.decide(facts) {
        case .void:
            try sync.rejectedWrites.remove(rejection.write.id)
        case .keepPaused:
            try sync.rejectedWrites.setState(of: rejection, to: .paused)
            sync.requestRejectionReport()
        case .revert:
            guard let record else { return }
            try sync.rejectedWrites.setState(of: rejection, to: .reverted)
            sync.requestRejectionReport()
            try SettleRejection(sync: sync).restore(record, local: local)
        case .edit:
            try sync.rejectedWrites.remove(rejection.write.id)
            try sync.setLocal(id, to: edited, orRemoveAs: .byAnswer)
            try NoteLocalWrite(sync: sync).note(before: local, after: edited)
            // Each refused edit counts, so that the questions to the app end.
            guard var edit = try sync.record(id) else { return }
            edit.failures = (record?.failures ?? 0) + 1
            try sync.save(edit)
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
