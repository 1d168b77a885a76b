internal import BSONStore
internal import StitchRules

/// A change that is not uploaded, since no subscription matches its document or no role shows it.
struct OutOfViewChange: Sendable {
    let documentID: BSONValue
    /// What was done with the change.
    let decision: RejectionDecision
    let error: RemoteError
}

/// The refusal of changes that no subscription or role of the user covers.
struct RefuseOutOfView {
    let sync: SyncTransaction
    let policy: UploadPolicy

    /// Refuses a change out of the view, as Device Sync's server did, and applies the app's
    /// rejection policy.
    ///
    /// - Returns: `nil` for a change that may be uploaded: of a document that is synced by its id,
    ///   of one in the view, or of a new one in it.
    func refuseUnmatched(
        _ record: SyncRecord, _ operation: OperationID, local: BSONDocument?
    ) throws -> OutOfViewChange? {
        guard sync.collection.isSubscribed, !record.isKeptByID else { return nil }
        let base = record.base.document(local: local)
        let membership = try sync.membership
        let facts = ViewWriteFacts(
            hasSubscription: membership.isAsked, from: base, to: local,
            isSeen: membership.keeps)
        let id = record.documentID
        guard !contentEqual(base, local),
            let write = CompensatingWrite.judge(facts, of: id, in: sync.namespace)
        else { return nil }
        let error = RemoteError(write)
        let decision = policy.onRejection(of: record, isDenied: true)
        let rejected = SettleRejection.RejectedChange(
            operation: operation, intended: local, local: local, error: error)
        return OutOfViewChange(
            documentID: id,
            decision: try SettleRejection(sync: sync).settle(decision, rejected, of: record),
            error: error)
    }

    /// Refuses a change of a document that the user may no longer read, as the remote would.
    ///
    /// The document was not deleted. Where the change is reverted, the document is evicted.
    ///
    /// - Parameter attempt: the attempt that was open and is settled now.
    /// - Returns: `nil` where no change is pending, or where it is an insert.
    func refuseHidden(
        _ record: SyncRecord, _ attempt: Attempt?, local: BSONDocument?
    ) throws -> OutOfViewChange? {
        guard record.isPending, record.base != .absent else { return nil }
        let id = record.documentID
        let error = RemoteError(
            CompensatingWrite(
                RuleDenial(
                    cause: .notAllowed, role: nil, namespace: sync.namespace, documentID: id)))
        let operation = try attempt?.operation ?? sync.instance.nextOperations(1)[0]
        let rejected = SettleRejection.RejectedChange(
            operation: operation, intended: local, local: local, error: error)
        let decision = try SettleRejection(sync: sync).settle(
            policy.onRejection(of: record, isDenied: true), rejected, of: record)
        if decision == .revert, let restored = try sync.record(id) {
            try DeviceDocuments(sync: sync).removeFromView(restored, isHeld: true)
        }
        return OutOfViewChange(documentID: id, decision: decision, error: error)
    }
}
