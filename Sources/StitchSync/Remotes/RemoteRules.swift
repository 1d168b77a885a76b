internal import BSONStore
internal import StitchRules

/// The access rules of a remote's user, which can change at any time.
final class RemoteRules: Sendable {
    private let current: Locked<RuleAccessPolicy?>
    /// Signals each change of the rules.
    let changes = Signal()

    init(_ ruleGuard: RuleAccessPolicy?) { current = Locked(ruleGuard) }

    /// The current rules; `nil` where no rules apply.
    var ruleGuard: RuleAccessPolicy? { current.withLock { $0 } }

    func set(_ ruleGuard: RuleAccessPolicy?) {
        current.withLock { $0 = ruleGuard }
        changes.notify()
    }

    /// Checks that a filter uses only queryable fields, if the rules declare any.
    ///
    /// - Throws: class `.rejected`, naming the field.
    func check(_ filter: BSONDocument, on namespace: Namespace) throws(RemoteError) {
        guard let ruleGuard, let fields = QueryableFields(ruleGuard, namespace) else { return }
        do throws(StoreError) {
            try fields.check(filter)
        } catch {
            throw RemoteError(.rejected, code: Int(error.code.rawValue), error.message)
        }
    }
}

extension SubscriptionQuery {
    /// The comment of a request for the query's documents, by which a server knows it.
    package static let comment = QueryableFields.comment
}

extension InProcessCollection {
    /// Makes a token for a position in the history, as seen under some rules.
    ///
    /// - Parameter mark: the mark of the change at the position, which differs in another history.
    static func token(
        _ position: Int64, _ mark: BSONValue?, _ namespace: Namespace, _ rules: RuleAccessPolicy?
    ) -> ResumeToken {
        var token: BSONDocument = ["position": .int64(position)]
        if let mark { token.append("mark", mark) }
        if let rules {
            token.append("rules", .int64(Int64(bitPattern: rules.fingerprint(namespace))))
        }
        return ResumeToken(token)
    }

    /// Returns the position of a token.
    ///
    /// - Throws: class `.historyLost` for a token from other rules: no change reports the documents
    ///   that the rules have shown or hidden since.
    static func position(
        _ token: ResumeToken, _ namespace: Namespace, _ rules: RuleAccessPolicy?
    ) throws(RemoteError) -> Int64 {
        guard let position = token.document["position"]?.int64Value else {
            throw RemoteError(.historyLost, "a resume token without a position")
        }
        let before = token.document["rules"]?.int64Value.map(UInt64.init(bitPattern:))
        guard before == rules?.fingerprint(namespace) else {
            throw RemoteError(.historyLost, "the rules for this user have changed")
        }
        return position
    }
}
