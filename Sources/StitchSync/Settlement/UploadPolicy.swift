internal import BSONStore

/// What answers are settled by, beside records and documents.
struct UploadPolicy: Sendable {
    /// How often in a row the remote may fail to take one document's change in, and the app be asked
    /// about it.
    let failuresMax: Int64
    /// What becomes of a change that is refused.
    let rejection: RejectionFacts.Rule

    /// What becomes of a record's change that is refused.
    ///
    /// - Parameter isCompensating: whether rules or subscriptions are the reason.
    func onRejection(of record: SyncRecord, isCompensating: Bool) -> RejectionDecision {
        RejectionDecision.decide(
            RejectionFacts(
                rule: rejection, isCompensating: isCompensating,
                askedOften: record.failures >= failuresMax))
    }
}
