public import BSONStore

/// Is a set of subscriptions that is being changed, in an update block.
public struct SubscriptionChanges {
    /// The subscriptions as they are now, oldest first.
    public private(set) var subscriptions: [Subscription]
    private let now: BSONDatetime
    private let makeID: () -> BSONObjectID

    /// Begins with a committed set.
    init(
        of set: SubscriptionSet, now: BSONDatetime, makeID: @escaping () -> BSONObjectID
    ) {
        subscriptions = set.subscriptions
        self.now = now
        self.makeID = makeID
    }

    /// Asks for documents; a subscription of the name gets the query, and keeps its id.
    ///
    /// Without a name, an equal query without a name is only noted as asked for again.
    ///
    /// - Returns: the subscription, and whether it is new.
    @discardableResult
    public mutating func insertOrAssign(
        _ query: SubscriptionQuery, named name: String? = nil
    ) -> (subscription: Subscription, isNew: Bool) {
        let found = subscriptions.firstIndex {
            $0.name == name && (name != nil || $0.query == query)
        }
        guard let found else { return (add(query, name), true) }
        subscriptions[found].query = query
        subscriptions[found].updatedAt = now
        return (subscriptions[found], false)
    }

    /// Asks for documents by a name that must be free.
    ///
    /// - Throws: `StoreError` with `badValue` when the name is taken, whatever the query.
    @discardableResult
    public mutating func append(
        _ query: SubscriptionQuery, named name: String
    ) throws(StoreError) -> Subscription {
        guard !subscriptions.contains(where: { $0.name == name }) else {
            throw StoreError(
                .badValue,
                "There is a subscription named '\(name)'; change its query by update")
        }
        return add(query, name)
    }

    /// Changes the query of a named subscription within its collection.
    ///
    /// - Throws: `StoreError` with `badValue` when there is no such subscription, and for a query on
    ///   another collection.
    public mutating func update(
        named name: String, to query: SubscriptionQuery
    ) throws(StoreError) {
        guard let found = subscriptions.firstIndex(where: { $0.name == name }) else {
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

    /// Removes the subscription of a name; whether there was one.
    @discardableResult
    public mutating func remove(named name: String) -> Bool {
        removeFirst { $0.name == name }
    }

    /// Removes a subscription with a query: the one without a name, else the oldest.
    ///
    /// - Returns: whether there was one.
    @discardableResult
    public mutating func remove(_ query: SubscriptionQuery) -> Bool {
        removeFirst { $0.name == nil && $0.query == query } || removeFirst { $0.query == query }
    }

    /// Removes a subscription by its id; whether there was one.
    @discardableResult
    public mutating func remove(id: BSONObjectID) -> Bool { removeFirst { $0.id == id } }

    /// Removes all subscriptions, of one collection or without a name where told; how many.
    @discardableResult
    public mutating func removeAll(
        of namespace: Namespace? = nil, unnamedOnly: Bool = false
    ) -> Int {
        let before = subscriptions.count
        subscriptions.removeAll {
            (namespace == nil || $0.query.namespace == namespace)
                && (!unnamedOnly || $0.name == nil)
        }
        return before - subscriptions.count
    }

    /// Takes the subscriptions of another set in place of these.
    public mutating func `import`(_ set: SubscriptionSet) { subscriptions = set.subscriptions }

    private mutating func add(_ query: SubscriptionQuery, _ name: String?) -> Subscription {
        let made = Subscription(
            id: makeID(), name: name, query: query, createdAt: now, updatedAt: now)
        subscriptions.append(made)
        return made
    }

    private mutating func removeFirst(_ isMeant: (Subscription) -> Bool) -> Bool {
        guard let found = subscriptions.firstIndex(where: isMeant) else { return false }
        subscriptions.remove(at: found)
        return true
    }
}
