internal import BSONStore

/// The repetition of a rejected write.
struct RetryRejectedWrite {
    let sync: SyncTransaction

    /// Repeats a rejected write as a local write.
    ///
    /// - Parameter edited: the document that the write is to store instead. Like the write itself, it
    ///   changes in the current document only the fields in which it differs from the base.
    func retry(
        _ rejected: RejectedWrite<BSONDocument>, as edited: BSONDocument?
    ) throws {
        let id = rejected.documentID
        let wanted = edited ?? rejected.latestDocument
        let local = try sync.local(id)
        let facts = RetryFacts(
            wantsDocument: wanted != nil, hadBase: rejected.base != nil, existsNow: local != nil,
            isAtBase: contentEqual(local, rejected.base))
        var after = wanted
        switch RetryDecision.decide(facts) {
        case .nothing: return
        case .put, .delete: break
        case .merge:
            if let wanted, let base = rejected.base {
                after = local?.changed(from: base, to: wanted)
            }
        case .occupied:
            throw StoreError(
                .duplicateKey, "another document has the _id by now", namespace: sync.namespace,
                documentID: id)
        }
        try sync.setLocal(id, to: after, orRemoveAs: .byApp)
        try NoteLocalWrite(sync: sync).note(before: local, after: after)
    }
}
