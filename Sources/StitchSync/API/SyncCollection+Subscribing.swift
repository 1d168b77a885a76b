public import BSONStore

extension SyncCollection {
    /// Subscribes to the documents that match a filter, which keeps them on the device.
    ///
    /// An existing subscription with the name changes to the filter, even from another collection.
    ///
    /// - Parameters:
    ///   - shows: the time at which the app sees the documents; `nil` keeps that of a present
    ///     subscription, and means ``SubscriptionArrival/together`` for a new one. Another one than that
    ///     of a present subscription with the filter makes a new set, for which only `.always` waits.
    ///   - waiting: whether to wait until the documents are on the device.
    ///   - timeout: the longest wait; after a timeout the subscription stays.
    /// - Throws: `StoreError` for a filter that a subscription cannot have; as
    ///   ``SyncSubscriptions/waitForSynchronization(of:timeout:)`` does.
    @discardableResult
    public func subscribe(
        to filter: BSONDocument = [:], named name: String? = nil,
        shows: SubscriptionArrival? = nil,
        waitForSync waiting: WaitForSync = .onCreation, timeout: Duration? = nil
    ) async throws -> Subscription {
        let query = try SubscriptionQuery(namespace, filter)
        let latest = try engine.subscriptions.latest
        // What the remote refused is asked for again.
        let isRefused =
            if case .error = latest.state { try !engine.subscriptions.holds(query) } else { false }
        func subscription(in set: SubscriptionSet) -> Subscription? {
            set.subscriptions.first { $0.name.hasSameBytes(as: name) && $0.query == query }
        }
        let known = isRefused ? nil : subscription(in: latest)
        var (set, current) = (latest, known)
        if current == nil || shows != nil && shows != current?.shows {
            set = try await engine.subscriptions.update {
                $0.insertOrAssign(query, named: name, shows: shows)
            }
            current = subscription(in: set)
        }
        guard let made = current else {
            throw SyncError(.storeFailed, "the subscription is not in its set")
        }
        let waits =
            switch waiting {
            case .onCreation: known == nil
            case .always: true
            case .never: false
            }
        if waits {
            try await engine.subscriptions.waitForSynchronization(
                of: set.version, asking: known != nil, for: .query(query), timeout: timeout)
        }
        return made
    }

    /// Removes the unnamed subscription with a filter; its documents are evicted.
    ///
    /// Documents stay while another subscription or an id keeps them or a change is pending.
    ///
    /// - Parameters:
    ///   - waiting: whether to wait until the documents are evicted.
    ///   - timeout: the longest wait; after a timeout the subscription is removed all the same. Without
    ///     one, the call waits as long as passes of this or another engine on the file get on, or while
    ///     ``SyncEngine/run()`` is under way.
    /// - Returns: whether there was such a subscription.
    /// - Throws: `SyncError` of code `.timedOut` after the timeout; without one, with the reason why no
    ///   pass got on, such as `.offline` or `.remoteUnavailable`. The subscription is removed all the
    ///   same, and the error says what is waited for.
    @discardableResult
    public func unsubscribe(
        from filter: BSONDocument = [:], waitForSync waiting: WaitForSync = .always,
        timeout: Duration? = nil
    ) async throws -> Bool {
        let query = try SubscriptionQuery(namespace, filter)
        let known = try engine.subscriptions.latest.subscriptions.first {
            $0.name == nil && $0.query == query
        }
        guard let known else { return false }
        return try await engine.subscriptions.remove(known, waitForSync: waiting, timeout: timeout)
    }
}

extension SyncSubscriptions {
    /// Removes a subscription, as ``SyncCollection/unsubscribe(from:waitForSync:timeout:)`` does.
    @discardableResult
    public func remove(
        _ subscription: Subscription, waitForSync waiting: WaitForSync = .always,
        timeout: Duration? = nil
    ) async throws -> Bool {
        let id = subscription.id
        guard try latest.subscriptions.contains(where: { $0.id == id }) else { return false }
        let set = try await update { $0.remove(id: id) }
        if waiting != .never {
            try await waitForSynchronization(of: set.version, for: .removal, timeout: timeout)
        }
        return true
    }

    /// Removes the subscription with a name, as
    /// ``SyncCollection/unsubscribe(from:waitForSync:timeout:)`` does.
    @discardableResult
    public func remove(
        named name: String, waitForSync waiting: WaitForSync = .always, timeout: Duration? = nil
    ) async throws -> Bool {
        guard let found = try first(named: name) else { return false }
        return try await remove(found, waitForSync: waiting, timeout: timeout)
    }

    /// Removes all subscriptions, as ``SyncCollection/unsubscribe(from:waitForSync:timeout:)``
    /// does.
    public func removeAll(
        waitForSync waiting: WaitForSync = .always, timeout: Duration? = nil
    ) async throws {
        let set = try await update { $0.removeAll() }
        if waiting != .never {
            try await waitForSynchronization(of: set.version, for: .removal, timeout: timeout)
        }
    }
}

extension SubscriptionChanges {
    /// Adds a subscription to the documents that match a filter, with a name that is not in use.
    ///
    /// - Throws: as ``append(_:named:shows:)`` and ``SubscriptionQuery/init(_:_:)`` do.
    @discardableResult
    public mutating func append<Document: Sendable>(
        name: String, in collection: SyncCollection<Document>, where filter: BSONDocument = [:],
        shows: SubscriptionArrival = .together
    ) throws(StoreError) -> Subscription {
        try append(try SubscriptionQuery(collection.namespace, filter), named: name, shows: shows)
    }

    /// Adds an unnamed subscription to the documents that match a filter.
    ///
    /// - Parameter shows: the time at which the app sees the documents, as for
    ///   ``insertOrAssign(_:named:shows:)``.
    /// - Throws: as ``SubscriptionQuery/init(_:_:)`` does.
    @discardableResult
    public mutating func append<Document: Sendable>(
        in collection: SyncCollection<Document>, where filter: BSONDocument = [:],
        shows: SubscriptionArrival? = nil
    ) throws(StoreError) -> Subscription {
        insertOrAssign(try SubscriptionQuery(collection.namespace, filter), shows: shows)
            .subscription
    }

    /// Returns the subscription with a name.
    public func first(named name: String) -> Subscription? {
        subscriptions.first { $0.name.hasSameBytes(as: name) }
    }
}

// MARK: - Typed subscriptions

extension SyncCollection where Document: TypedDocument {
    /// Subscribes to the documents that fulfil a condition, which keeps them on the device.
    ///
    /// ```swift
    /// try await items.subscribe(named: "simple-items") { $0.complexity <= 4 }
    /// ```
    ///
    /// An existing subscription with the name changes to the condition.
    ///
    /// - Parameters:
    ///   - shows: the time at which the app sees the documents; `nil` keeps that of a present
    ///     subscription, and means ``SubscriptionArrival/together`` for a new one.
    ///   - waiting: whether to wait until the documents are on the device.
    ///   - timeout: the longest wait; after a timeout the subscription stays.
    /// - Throws: as `TypedFilter/bson(with:)` and
    ///   ``subscribe(to:named:shows:waitForSync:timeout:)`` do.
    @discardableResult
    public func subscribe(
        named name: String? = nil, shows: SubscriptionArrival? = nil,
        waitForSync waiting: WaitForSync = .onCreation, timeout: Duration? = nil,
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter
    ) async throws -> Subscription {
        try await subscribe(
            to: try Document.filter(filter).bson(with: coding.encoder), named: name, shows: shows,
            waitForSync: waiting, timeout: timeout)
    }

    /// Removes the unnamed subscription with a condition; its documents are evicted.
    ///
    /// - Returns: whether there was such a subscription.
    /// - Throws: as `TypedFilter/bson(with:)` and
    ///   ``unsubscribe(from:waitForSync:timeout:)`` do.
    @discardableResult
    public func unsubscribe(
        waitForSync waiting: WaitForSync = .always, timeout: Duration? = nil,
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter
    ) async throws -> Bool {
        try await unsubscribe(
            from: try Document.filter(filter).bson(with: coding.encoder), waitForSync: waiting,
            timeout: timeout)
    }
}

extension SubscriptionChanges {
    /// Adds a subscription to the documents that fulfil a condition, with a name that is not in
    /// use.
    ///
    /// ```swift
    /// try await engine.subscriptions.update { changes in
    ///     try changes.append(name: "simple-items", in: items) { $0.complexity <= 4 }
    /// }
    /// ```
    ///
    /// - Throws: as `TypedFilter/bson(with:)` and ``append(_:named:shows:)`` do.
    @discardableResult
    public mutating func append<Document: TypedDocument>(
        name: String, in collection: SyncCollection<Document>,
        shows: SubscriptionArrival = .together,
        @TypedFilterBuilder where filter: (Document.Fields) throws -> TypedFilter
    ) throws -> Subscription {
        try append(try SubscriptionQuery(collection.find(filter)), named: name, shows: shows)
    }

    /// Adds an unnamed subscription to the documents that fulfil a condition.
    ///
    /// - Throws: as `TypedFilter/bson(with:)` and ``SubscriptionQuery/init(_:_:)`` do.
    @discardableResult
    public mutating func append<Document: TypedDocument>(
        in collection: SyncCollection<Document>, shows: SubscriptionArrival? = nil,
        @TypedFilterBuilder where filter: (Document.Fields) throws -> TypedFilter
    ) throws -> Subscription {
        insertOrAssign(try SubscriptionQuery(collection.find(filter)), shows: shows).subscription
    }
}

extension SubscriptionQuery {
    /// Makes a query for the documents of a type that fulfil a condition, for
    /// ``InitialSubscriptions``.
    ///
    /// ```swift
    /// InitialSubscriptions { changes in
    ///     let simple = try SubscriptionQuery(items, of: Item.self) { $0.complexity <= 4 }
    ///     try changes.append(simple, named: "simple-items")
    /// }
    /// ```
    ///
    /// - Throws: as `TypedFilter/bson(with:)` and ``init(_:_:)`` do.
    public init<Document: TypedDocument>(
        _ namespace: Namespace, of type: Document.Type,
        @TypedFilterBuilder _ filter: (Document.Fields) throws -> TypedFilter
    ) throws { try self.init(namespace, try Document.filter(filter).bson) }
}

extension SubscriptionQuery {
    /// Makes the query of a subscription from a query of a collection.
    ///
    /// ```swift
    /// let mine = try SubscriptionQuery(todos.find { $0.ownerID == user })
    /// ```
    ///
    /// - Throws: the error of the query's filter; `badValue` for a query with an order, a range, a
    ///   projection, an index or a collation: a subscription is a filter; as ``init(_:_:)`` does.
    public init<Document: Sendable>(_ query: Query<Document>) throws {
        try self.init(query.namespace, try query.soleFilter())
    }
}
