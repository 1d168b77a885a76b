public import BSONStore

/// A query whose documents the engine keeps on the device.
///
/// ```swift
/// let subscription = try await todos.subscribe(to: ["done": false], named: "open")
/// print(subscription.id, subscription.query.filter)
/// ```
public struct Subscription: Sendable, Hashable, Identifiable, CustomStringConvertible {
    /// The subscription's identity, which a change of the query keeps.
    public let id: BSONObjectID
    /// The name, by which the app finds it again; the empty string is a name, too.
    public internal(set) var name: String?
    /// The query for the documents.
    public internal(set) var query: SubscriptionQuery
    /// The time at which the app sees the documents.
    public internal(set) var shows = SubscriptionArrival.together
    /// The time of its creation.
    public let createdAt: BSONDatetime
    /// The time of its last change or repetition.
    public internal(set) var updatedAt: BSONDatetime

    /// Whether both are the same edition of a subscription; names are compared by their bytes.
    public static func == (left: Subscription, right: Subscription) -> Bool {
        left.id == right.id && left.name.hasSameBytes(as: right.name)
            && left.query == right.query && left.shows == right.shows
            && left.createdAt == right.createdAt && left.updatedAt == right.updatedAt
    }

    /// The name and the query: `"open" on app.todos {"done":false}`.
    public var description: String { (name.map { "\"\($0)\"" } ?? "unnamed") + " on \(query)" }
}

/// The time at which the app sees the documents of a new query.
///
/// ```swift
/// try await photos.subscribe(to: ["year": 2025], named: "photos", shows: .asTheyArrive)
/// ```
///
/// In both cases documents that no query asks for any more stay until the set is complete, and
/// ``SyncSubscriptions/waitForSynchronization(of:timeout:)`` waits for all documents.
public enum SubscriptionArrival: Sendable, Hashable, CaseIterable {
    /// All documents of a set are inserted in one transaction, once they are downloaded.
    case together
    /// Each page of documents is inserted when it is downloaded.
    ///
    /// The app may change these documents at once. The engine uploads the changes once the set is
    /// complete. If the remote then refuses the query, or a later set replaces the set, documents
    /// that no query asks for are evicted.
    case asTheyArrive
}

/// The state of a subscription set.
///
/// ```swift
/// if case .error(let message) = try engine.subscriptions.state {
///     print("the remote refused the subscriptions: \(message)")
/// }
/// ```
public enum SubscriptionState: Sendable, Hashable {
    /// The set is committed and not yet answered. Bootstrapping, error or superseded follow.
    case pending
    /// Documents are being downloaded; after a restart the download continues. Complete, error or
    /// superseded follow; pending if the remote lost the history meanwhile, which starts it again.
    case bootstrapping
    /// All documents that matched when the remote was asked are on the device. Superseded follows.
    case complete
    /// The remote refused the set with this message; the previous set stays active. Superseded
    /// follows.
    case error(String)
    /// A later set replaced this one.
    case superseded
}

/// The subscriptions of one version; each change makes the next version.
///
/// ```swift
/// let set = try engine.subscriptions.latest
/// for subscription in set.subscriptions {
///     print(subscription.name ?? "unnamed", subscription.query.filter)
/// }
/// ```
public struct SubscriptionSet: Sendable, Hashable, CustomStringConvertible {
    /// The number of the set; each change adds one, and 0 is the empty set of a new store.
    public let version: Int64
    /// The state of the set.
    public internal(set) var state: SubscriptionState
    /// The subscriptions, the oldest first.
    public let subscriptions: [Subscription]
    /// The queries of the subscriptions.
    let queries: SetQueries
    /// The queries whose documents the app sees while they arrive.
    let arriving: SetQueries
    /// The subscriptions that keep documents on the device, of a set some of whose queries the
    /// remote refused; `nil` for other sets.
    var held: HeldSubscriptions?

    init(version: Int64, state: SubscriptionState, subscriptions: [Subscription]) {
        self.version = version
        self.state = state
        self.subscriptions = subscriptions
        queries = SetQueries(subscriptions.map(\.query))
        arriving = SetQueries(
            subscriptions.filter { $0.shows == .asTheyArrive }.map(\.query))
    }

    /// Compares versions, states and subscriptions.
    public static func == (left: Self, right: Self) -> Bool {
        left.version == right.version && left.state == right.state
            && left.subscriptions == right.subscriptions
    }

    /// Hashes the version and the state.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(version)
        hasher.combine(state)
    }

    /// The version, the state and the subscriptions.
    public var description: String {
        let shown = subscriptions.map(\.description).joined(separator: ", ")
        return "set \(version), \(state): [\(shown)]"
    }

    /// The empty set of a new store.
    static let first = SubscriptionSet(version: 0, state: .pending, subscriptions: [])

    /// Returns the subscription with a name.
    public func first(named name: String) -> Subscription? {
        subscriptions.first { $0.name.hasSameBytes(as: name) }
    }

    /// Returns a subscription with a query, named or not.
    public func first(with query: SubscriptionQuery) -> Subscription? {
        subscriptions.first { $0.query == query }
    }

    /// Returns the subscriptions that match a document.
    ///
    /// The document stays on the device as long as one matches. O(n) in the subscriptions.
    public func claims(on document: BSONDocument, in namespace: Namespace) -> [Subscription] {
        subscriptions.filter { $0.query.namespace == namespace && $0.query.matches(document) }
    }

    /// Whether a subscription is on a collection; without one, the remote refuses every write to
    /// it.
    public func asks(of namespace: Namespace) -> Bool { queries.asks(of: namespace) }

    /// Returns the distinct queries on a collection, for the remote, which does not know names.
    func queries(of namespace: Namespace) -> [SubscriptionQuery] {
        queries.index(of: namespace)?.queries ?? []
    }
}
