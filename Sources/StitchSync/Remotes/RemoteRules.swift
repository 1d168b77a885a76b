internal import BSONStore
internal import StitchRules

/// Binds a remote's user by rules, which can change while the remote is used.
final class RemoteRules: Sendable {
    private let current: Locked<RuleGuard?>

    init(_ ruleGuard: RuleGuard?) { current = Locked(ruleGuard) }

    /// The rules that are in force; `nil` where nobody is bound.
    var ruleGuard: RuleGuard? { current.withLock { $0 } }

    func set(_ ruleGuard: RuleGuard?) { current.withLock { $0 = ruleGuard } }
}

extension InProcessCollection {
    /// A place in the history, for who sees what the rules let be seen.
    static func token(
        _ position: Int64, _ namespace: Namespace, _ rules: RuleGuard?
    ) -> ResumeToken {
        guard let rules else { return ResumeToken(["position": .int64(position)]) }
        return ResumeToken([
            "position": .int64(position),
            "rules": .int64(Int64(bitPattern: rules.fingerprint(namespace))),
        ])
    }

    /// The position that a token names.
    ///
    /// - Throws: class `.historyLost` for a token that was got under rules which decided otherwise:
    ///   what came into view or left it since then no change tells.
    static func position(
        _ token: ResumeToken, _ namespace: Namespace, _ rules: RuleGuard?
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
