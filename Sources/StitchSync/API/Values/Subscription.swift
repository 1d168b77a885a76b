public import BSONStore

/// Keeps the documents of a query on the device.
public struct Subscription: Sendable, Hashable, Identifiable {
    /// Stays when the query of a named subscription changes.
    public let id: BSONObjectID
    /// By what it is found again; the empty text is a name too.
    public internal(set) var name: String?
    /// What is asked for.
    public internal(set) var query: SubscriptionQuery
    /// When it was made.
    public let createdAt: BSONDatetime
    /// When it was last asked for.
    public internal(set) var updatedAt: BSONDatetime
}

/// Says how far a set of subscriptions has come.
public enum SubscriptionState: Sendable, Hashable {
    /// It is committed and was not answered. Bootstrapping, error or superseded follow.
    case pending
    /// Documents are on their way. Complete, error or superseded follow, pending after a restart.
    case bootstrapping
    /// All documents that passed when the remote was asked are here. Superseded follows.
    case complete
    /// The remote refused the set, with these words; the set before goes on. Superseded follows.
    case error(String)
    /// A later set took over.
    case superseded
}

/// Holds the subscriptions of one version; changed by making the next version.
public struct SubscriptionSet: Sendable, Hashable {
    /// Grows by one with each committed change; 0 is the empty set that every store begins with.
    public let version: Int64
    /// How far the set has come.
    public internal(set) var state: SubscriptionState
    /// The subscriptions, oldest first.
    public let subscriptions: [Subscription]

    /// The set that every store begins with.
    static let first = SubscriptionSet(version: 0, state: .pending, subscriptions: [])

    /// The subscription of a name.
    public func first(named name: String) -> Subscription? {
        subscriptions.first { $0.name == name }
    }

    /// A subscription with a query, named or not.
    public func first(with query: SubscriptionQuery) -> Subscription? {
        subscriptions.first { $0.query == query }
    }

    /// The subscriptions that ask for a document.
    ///
    /// The document stays as long as there is one. O(n) in the subscriptions.
    public func claims(on document: BSONDocument, in namespace: Namespace) -> [Subscription] {
        subscriptions.filter { $0.query.namespace == namespace && $0.query.matches(document) }
    }

    /// Whether some subscription asks for documents of a collection: without one, what is written
    /// there is certainly refused.
    public func asks(of namespace: Namespace) -> Bool {
        subscriptions.contains { $0.query.namespace == namespace }
    }

    /// The different queries of a collection: what a remote is asked, which never hears of names.
    func queries(of namespace: Namespace) -> [SubscriptionQuery] {
        var seen: Set<SubscriptionQuery> = []
        return subscriptions.map(\.query).filter {
            $0.namespace == namespace && seen.insert($0).inserted
        }
    }
}
