package import BSONStore

/// The access policy of one user's roles.
package final class RuleAccessPolicy: AccessPolicy {
    /// The databases that no role can open; nor can one open a bucket of files.
    private static let closed: Set<String> = ["admin", "config", "local", gatewayDatabase]
    /// The database in which gateways keep users and logs.
    package static let gatewayDatabase = "stitchsync_gateway"

    package let user: RuleUser
    private let rules: RuleSet
    private let onDenial: @Sendable (RuleDenial) -> Void
    private let known = Locked<[Namespace: RuleCollectionAccess]>([:])

    /// Makes the policy of a user from rules.
    ///
    /// - Parameter onDenial: receives each denied write, within its transaction.
    package init(
        _ rules: RuleSet, _ user: RuleUser,
        onDenial: @escaping @Sendable (RuleDenial) -> Void = { _ in }
    ) {
        self.rules = rules
        self.user = user
        self.onDenial = onDenial
    }

    /// The same policy, which reports no denials.
    package var silent: RuleAccessPolicy { RuleAccessPolicy(rules, user) }

    /// The collections with roles of their own, sorted.
    var namespaces: [Namespace] { rules.namespaces }

    /// Returns the user's gate, never `nil`: at a gateway the documents of a role that sees all come
    /// through it, too.
    package func gate(_ namespace: Namespace) -> (any CollectionAccess)? { ruleGate(namespace) }

    /// Returns a number that is equal, in every process, for users with equal permissions in a
    /// collection.
    package func fingerprint(_ namespace: Namespace) -> UInt64 { ruleGate(namespace).fingerprint }

    /// Returns the queryable fields of a collection, without `_id`, where any are declared.
    package func queryableFields(_ collection: String) -> Set<Name> {
        rules.queryableNames(collection)
    }

    /// Returns the user's permissions in a collection, computed once.
    package func access(_ namespace: Namespace) -> RuleAccess { ruleGate(namespace).access }

    private func ruleGate(_ namespace: Namespace) -> RuleCollectionAccess {
        if let gate = known.withLock({ $0[namespace] }) { return gate }
        let isClosed =
            Self.closed.contains(namespace.database)
            || namespace.collection.hasBytePrefix("system.")
            || AttachmentBucket.holds(namespace)
        let source = isClosed ? RuleSet() : rules
        let gate = RuleCollectionAccess(access: source.access(to: namespace, for: user), onDenial)
        known.withLock { known in
            // Requests for arbitrary names must not fill the memory.
            if known.count >= 1_000 { known.removeAll() }
            known[namespace] = gate
        }
        return gate
    }

    /// Whether another policy decides equally, for all collections with roles and one more.
    package func decidesEqually(_ other: RuleAccessPolicy, _ namespace: Namespace) -> Bool {
        guard self !== other else { return true }
        let names = rules.namespaces + other.rules.namespaces + [namespace]
        return user.id.hasSameBytes(as: other.user.id)
            && names.allSatisfy { decidesEqually(other, only: $0) }
    }

    /// Whether another policy decides equally about one collection.
    package func decidesEqually(_ other: RuleAccessPolicy, only namespace: Namespace) -> Bool {
        access(namespace).decidesEqually(other.access(namespace))
    }
}
