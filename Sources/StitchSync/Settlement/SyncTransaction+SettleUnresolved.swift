internal import BSONStore

/// Settles what lands at the remote after it was given up for lost.
extension SyncTransaction {
    /// A try that was given up for lost landed after all: it is the base, not a foreign change.
    ///
    /// Where the document holds somebody else's change, too, nothing is adopted: it is a change of the
    /// remote's like any other, which the handler is asked about where something is pending here.
    func adoptUnresolved(
        _ remote: RemoteEdition, _ look: FetchedDocument,
        of discarded: [UnresolvedAttempt],
        into record: inout SyncRecord, local: BSONDocument?
    ) throws {
        guard record.attempt == nil else { return }
        if look.isAbsent { return try adoptDelete(of: discarded, into: &record, local: local) }
        guard let name = remote.version.version?.operation else { return }
        var tries = discarded
        // One that an earlier record of the document gave up.
        if record.base == .absent && local != nil {
            tries += try givenUp.tries(of: record.documentID, in: collection.rowID)
        }
        guard let landed = tries.last(where: { $0.operation.value == name }) else { return }
        let before = record.base.document(local: local)
        guard landed.explains(remote.document, over: before) else { return }
        record.base = StoredContent(remote.document, local: local)
        record.version = remote.version
        record.clearUnresolved()
        record.isPending = PendingChange(base: remote.document, local: local) != .none
        try emitChange(
            .committed, record.documentID, from: before, to: remote.document,
            uncommitted: record.isPending)
    }

    /// A delete that was given up landed, or somebody else deleted what it was to delete: both are
    /// what the app wanted before it made the document anew, which is an insert now.
    private func adoptDelete(
        of discarded: [UnresolvedAttempt], into record: inout SyncRecord, local: BSONDocument?
    ) throws {
        guard local != nil, record.base != .absent,
            discarded.contains(where: { $0.meaning == .nothing })
        else { return }
        let before = record.base.document(local: local)
        record.base = .absent
        record.version = .absent
        record.clearUnresolved()
        record.isPending = true
        try emitChange(.committed, record.documentID, from: before, to: nil, uncommitted: true)
    }
}
