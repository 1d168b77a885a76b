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

    /// Device Sync's error number of an unsupported query.
    private static let badQuery = 226

    /// Checks that a filter uses only queryable fields, if the rules declare any.
    ///
    /// - Throws: class `.rejected`, naming the field.
    func check(_ filter: BSONDocument, on namespace: Namespace) throws(RemoteError) {
        guard let ruleGuard else { return }
        let queryable = ruleGuard.queryableFields(namespace.collection)
        guard !queryable.isEmpty else { return }
        for field in Self.conditionFields(of: filter).sorted()
        where field != "_id" && !queryable.contains(field) {
            throw RemoteError(
                .rejected, code: Self.badQuery,
                "Client provided query with bad syntax: unsupported query for table "
                    + "\"\(namespace.collection)\": key \"\(field)\" is not a queryable field")
        }
    }

    /// Returns the top-level fields that a filter's conditions use.
    private static func conditionFields(of filter: BSONDocument) -> Set<Name> {
        var fields: Set<Name> = []
        for (key, value) in filter {
            if !key.hasPrefix("$") {
                fields.insert(key.splitAtFirstDot?.head ?? key)
            } else {
                for part in value.arrayValue?.values ?? [] {
                    guard let condition = part.documentValue else { continue }
                    fields.formUnion(conditionFields(of: condition))
                }
            }
        }
        return fields
    }
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
