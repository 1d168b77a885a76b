internal import BSONStore

/// A change that is not sent, since it is about a document that no subscription asks for.
struct ViewRefusal: Sendable {
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
    func refuseOutOfView(
        _ record: SyncedDocument, _ operation: OperationID, local: BSONDocument?,
        _ terms: UploadTerms
    ) throws -> ViewRefusal? {
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
        return ViewRefusal(
            documentID: id, settlement: try settle(settlement, refusal, of: record), error: error)
    }
}
