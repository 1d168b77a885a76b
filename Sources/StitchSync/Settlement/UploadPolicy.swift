internal import BSONStore

/// The policies for the settlement of answers.
struct UploadPolicy: Sendable {
    /// The maximum number of consecutive failures of one document's upload, and of questions to the
    /// app about it.
    let failuresMax: Int64
    /// The rule for refused changes.
    let rejection: RejectionFacts.Rule

    /// Decides about a refused change of a record.
    ///
    /// - Parameter isDenied: whether rules or subscriptions are the reason.
    func onRejection(of record: SyncRecord, isDenied: Bool) -> RejectionDecision {
        RejectionDecision.decide(
            RejectionFacts(
                rule: rejection, isDenied: isDenied,
                askedOften: record.failures >= failuresMax))
    }
}
