internal import BSONStore
internal import StitchRules

/// A change that is not sent, since it is about a document that no subscription asks for.
struct OutOfViewChange: Sendable {
    let documentID: BSONValue
    /// What became of it.
    let settlement: UploadSettlement
    let error: RemoteError
}

extension SyncTransaction {
    /// Refuses a change out of the view, as Device Sync's server did; the app's policy for what the
    /// remote refuses says what becomes of it.
    ///
    /// - Returns: `nil` for a change that may be sent: of a document that an id keeps in step, of one
    ///   in view, or one that is new in it.
    func rejectOutOfView(
        _ record: SyncRecord, _ operation: OperationID, local: BSONDocument?,
        _ terms: UploadPolicy
    ) throws -> OutOfViewChange? {
        guard collection.isSubscribed, !record.isClaimedByID else { return nil }
        let base = record.base.document(local: local)
        let membership = try membership
        let facts = ViewWriteFacts(
            hasSubscription: membership.isAsked, from: base, to: local,
            isSeen: membership.keeps)
        let id = record.documentID
        guard !contentEqual(base, local),
            let write = CompensatingWrite.judge(facts, of: id, in: namespace)
        else { return nil }
        let error = RemoteError(write)
        let settlement = UploadSettlement(
            terms.onRejection(of: record, isCompensating: true))
        let refusal = Refusal(operation: operation, intended: local, local: local, error: error)
        return OutOfViewChange(
            documentID: id, settlement: try settle(settlement, refusal, of: record), error: error)
    }

    /// Refuses a change of a document that the user may no longer see, as the remote would.
    ///
    /// It is no delete that somebody made. Where the change is taken back, the document leaves the
    /// device.
    ///
    /// - Parameter attempt: the attempt that was open, whose fate is settled by now.
    /// - Returns: `nil` where nothing waits, or what waits is new to the remote.
    func rejectHidden(
        _ record: SyncRecord, _ attempt: Attempt?, local: BSONDocument?
    ) throws -> OutOfViewChange? {
        guard let terms = wishes?.terms, record.isPending, record.base != .absent
        else { return nil }
        let id = record.documentID
        let error = RemoteError(
            CompensatingWrite(
                RuleDenial(cause: .hidden, role: nil, namespace: namespace, documentID: id)))
        let operation = try attempt?.operation ?? state.nextOperations(1)[0]
        let refusal = Refusal(operation: operation, intended: local, local: local, error: error)
        let settlement = try settle(
            UploadSettlement(terms.onRejection(of: record, isCompensating: true)), refusal,
            of: record)
        if settlement == .revertRejected, let restored = try self.record(id) {
            try removeFromView(restored, isHeld: true)
        }
        return OutOfViewChange(documentID: id, settlement: settlement, error: error)
    }
}
