public import BSONStore

/// A subscription set that an update closure changes.
///
/// ```swift
/// let query = try SubscriptionQuery(todos.find(["done": false]))
/// try await engine.subscriptions.update { changes in
///     changes.removeAll()
///     changes.insertOrAssign(query, named: "open")
/// }
/// ```
public struct SubscriptionChanges {
    /// The current subscriptions, the oldest first.
    public private(set) var subscriptions: [Subscription]
    /// The places of subscriptions, so that many can be added at once; `nil` until it is needed.
    private var places: Places?
    private let now: BSONDatetime
    private let makeID: () -> BSONObjectID

    /// The first place of each name and of each query without a name.
    private struct Places {
        var named: [Name: Int] = [:]
        var unnamed: [SubscriptionQuery: Int] = [:]

        mutating func note(_ subscription: Subscription, at place: Int) {
            if let name = subscription.name {
                if named[name] == nil { named[name] = place }
            } else if unnamed[subscription.query] == nil {
                unnamed[subscription.query] = place
            }
        }
    }

    /// Makes changes of a committed set.
    init(
        of set: SubscriptionSet, now: BSONDatetime, makeID: @escaping () -> BSONObjectID
    ) {
        subscriptions = set.subscriptions
        self.now = now
        self.makeID = makeID
    }

    /// Adds a subscription, or changes the query of the one with the name, which keeps its id.
    ///
    /// Without a name, an equal unnamed subscription keeps its query and gets a new
    /// ``Subscription/updatedAt``.
    ///
    /// - Parameter shows: the time at which the app sees the documents; `nil` keeps that of a present
    ///   subscription, and means ``SubscriptionArrival/together`` for a new one.
    /// - Returns: the subscription, and whether it is new.
    @discardableResult
    public mutating func insertOrAssign(
        _ query: SubscriptionQuery, named name: String? = nil, shows: SubscriptionArrival? = nil
    ) -> (subscription: Subscription, isNew: Bool) {
        guard let found = place(of: name, query) else {
            return (add(query, name, shows ?? .together), true)
        }
        subscriptions[found].query = query
        if let shows { subscriptions[found].shows = shows }
        subscriptions[found].updatedAt = now
        return (subscriptions[found], false)
    }

    /// Adds a subscription with a name that is not in use.
    ///
    /// - Parameter shows: the time at which the app sees the documents.
    /// - Throws: `StoreError` with `badValue` when the name is in use, for any query.
    @discardableResult
    public mutating func append(
        _ query: SubscriptionQuery, named name: String, shows: SubscriptionArrival = .together
    ) throws(StoreError) -> Subscription {
        guard place(of: name, query) == nil else {
            throw StoreError(
                .badValue,
                "There is a subscription named '\(name)'; change its query by update")
        }
        return add(query, name, shows)
    }

    /// Changes the query of a named subscription within its collection.
    ///
    /// - Throws: `StoreError` with `badValue` when the subscription does not exist, and for a query
    ///   on another collection.
    public mutating func update(
        named name: String, to query: SubscriptionQuery
    ) throws(StoreError) {
        guard let found = place(of: name, query) else {
            throw StoreError(.badValue, "There is no subscription named '\(name)'")
        }
        guard subscriptions[found].query.namespace == query.namespace else {
            throw StoreError(
                .badValue,
                "The subscription '\(name)' is on \(subscriptions[found].query.namespace), and "
                    + "cannot be changed to \(query.namespace)")
        }
        insertOrAssign(query, named: name)
    }

    /// Removes the subscription with a name.
    ///
    /// - Returns: whether it existed.
    @discardableResult
    public mutating func remove(named name: String) -> Bool {
        removeFirst { $0.name.hasSameBytes(as: name) }
    }

    /// Removes a subscription with a query: the unnamed one, else the oldest.
    ///
    /// - Returns: whether it existed.
    @discardableResult
    public mutating func remove(_ query: SubscriptionQuery) -> Bool {
        removeFirst { $0.name == nil && $0.query == query } || removeFirst { $0.query == query }
    }

    /// Removes the subscription with an id.
    ///
    /// - Returns: whether it existed.
    @discardableResult
    public mutating func remove(id: BSONObjectID) -> Bool { removeFirst { $0.id == id } }

    /// Removes all subscriptions, or only those of one collection, or only unnamed ones.
    ///
    /// - Returns: the number of removed subscriptions.
    @discardableResult
    public mutating func removeAll(
        of namespace: Namespace? = nil, unnamedOnly: Bool = false
    ) -> Int {
        let before = subscriptions.count
        places = nil
        subscriptions.removeAll {
            (namespace == nil || $0.query.namespace == namespace)
                && (!unnamedOnly || $0.name == nil)
        }
        return before - subscriptions.count
    }

    /// Replaces the subscriptions by those of another set.
    public mutating func `import`(_ set: SubscriptionSet) {
        subscriptions = set.subscriptions
        places = nil
    }

    /// Returns the place of the subscription with a name, or without one and with a query.
    private mutating func place(of name: String?, _ query: SubscriptionQuery) -> Int? {
        let known = places ?? Self.places(of: subscriptions)
        places = known
        return if let name { known.named[name] } else { known.unnamed[query] }
    }

    private static func places(of subscriptions: [Subscription]) -> Places {
        var places = Places()
        for (place, subscription) in subscriptions.enumerated() {
            places.note(subscription, at: place)
        }
        return places
    }

    private mutating func add(
        _ query: SubscriptionQuery, _ name: String?, _ shows: SubscriptionArrival
    ) -> Subscription {
        let made = Subscription(
            id: makeID(), name: name, query: query, shows: shows, createdAt: now, updatedAt: now)
        places?.note(made, at: subscriptions.count)
        subscriptions.append(made)
        return made
    }

    private mutating func removeFirst(_ isMeant: (Subscription) -> Bool) -> Bool {
        guard let found = subscriptions.firstIndex(where: isMeant) else { return false }
        subscriptions.remove(at: found)
        places = nil
        return true
    }
}
