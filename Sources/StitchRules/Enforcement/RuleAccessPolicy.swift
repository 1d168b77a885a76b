package import BSONStore

/// Lets transactions of one user go through that user's roles.
package final class RuleAccessPolicy: AccessPolicy {
    /// Databases whose collections no role can open.
    private static let closed: Set<String> = ["admin", "config", "local"]

    package let user: RuleUser
    private let rules: RuleSet
    private let onDenial: @Sendable (RuleDenial) -> Void
    private let known = Locked<[Namespace: RuleCollectionAccess]>([:])

    /// Guards by what rules say of a user.
    ///
    /// - Parameter onDenial: is told of each write that is denied, in the write's transaction.
    package init(
        _ rules: RuleSet, _ user: RuleUser,
        onDenial: @escaping @Sendable (RuleDenial) -> Void = { _ in }
    ) {
        self.rules = rules
        self.user = user
        self.onDenial = onDenial
    }

    /// The collections that have roles of their own, sorted.
    var namespaces: [Namespace] { rules.namespaces }

    package func gate(_ namespace: Namespace) -> (any CollectionAccess)? { ruleGate(namespace) }

    /// Returns a number that is the same wherever the user may do the same with a collection, in
    /// every process.
    package func fingerprint(_ namespace: Namespace) -> UInt64 { ruleGate(namespace).fingerprint }

    /// Returns the fields beside `_id` that a collection's documents may be asked for by, where any
    /// are declared.
    package func queryableFields(_ collection: String) -> Set<Name> {
        rules.queryableNames(collection)
    }

    /// What the user may do with a collection, found out once.
    package func access(_ namespace: Namespace) -> RuleAccess { ruleGate(namespace).access }

    private func ruleGate(_ namespace: Namespace) -> RuleCollectionAccess {
        if let gate = known.withLock({ $0[namespace] }) { return gate }
        let isClosed =
            Self.closed.contains(namespace.database) || namespace.collection.hasPrefix("system.")
        let source = isClosed ? RuleSet() : rules
        let gate = RuleCollectionAccess(access: source.access(to: namespace, for: user), onDenial)
        known.withLock { known in
            // Names that are only asked for must not fill the memory.
            if known.count >= 1_000 { known.removeAll() }
            known[namespace] = gate
        }
        return gate
    }

    /// Whether another guard decides as this one does, for collections with roles and one more.
    package func decidesEqually(_ other: RuleAccessPolicy, _ namespace: Namespace) -> Bool {
        guard self !== other else { return true }
        let names = rules.namespaces + other.rules.namespaces + [namespace]
        return user.id == other.user.id && names.allSatisfy { decidesEqually(other, only: $0) }
    }

    /// Whether another guard decides as this one does about one collection.
    package func decidesEqually(_ other: RuleAccessPolicy, only namespace: Namespace) -> Bool {
        access(namespace).decidesEqually(other.access(namespace))
    }
}
