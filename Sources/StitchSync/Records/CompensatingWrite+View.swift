internal import BSONStore
internal import StitchRules

extension CompensatingWrite {
    /// Judges a write by the subscriptions; all checks of the view use this function.
    ///
    /// - Returns: `nil` for a write that the subscriptions allow.
    static func judge(
        _ facts: ViewWriteFacts, of id: BSONValue, in namespace: Namespace
    ) -> CompensatingWrite? {
        let cause: Cause
        switch ViewWriteDecision.decide(facts) {
        case .legal, .legalAndLeaves: return nil
        case .outOfView: cause = .outOfView
        case .noSubscription: cause = .noSubscription
        }
        let start = RuleDenial(
            cause: .notAllowed, role: nil, namespace: namespace, documentID: id
        ).reason
        return CompensatingWrite(
            objectName: namespace.collection, primaryKey: id,
            reason: start + "; object is outside of the current query view", cause: cause)
    }
}
