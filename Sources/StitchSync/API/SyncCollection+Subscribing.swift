public import BSONStore

extension SyncEngine {
    /// The subscriptions: queries whose documents are kept on the device.
    public var subscriptions: SyncSubscriptions { SyncSubscriptions(engine: self) }
}

extension SyncCollection {
    /// A query on the collection, for subscriptions.
    ///
    /// - Throws: as ``SubscriptionQuery/init(_:_:)``.
    public func query(_ filter: BSONDocument = [:]) throws(StoreError) -> SubscriptionQuery {
        try SubscriptionQuery(namespace, filter)
    }

    /// Keeps the documents on the device that pass a filter.
    ///
    /// A subscription of the name gets the filter, also where it was on another collection.
    ///
    /// - Parameters:
    ///   - waiting: whether to wait until the documents are here.
    ///   - timeout: how long at most; the subscription stays when the time is up.
    /// - Throws: `StoreError` for a filter that a subscription cannot have; as
    ///   ``SyncSubscriptions/waitForSynchronization(of:timeout:)``.
    @discardableResult
    public func subscribe(
        to filter: BSONDocument = [:], named name: String? = nil,
        waitForSync waiting: WaitForSync = .onCreation, timeout: Duration? = nil
    ) async throws -> Subscription {
        let query = try query(filter)
        let latest = try engine.subscriptions.latest
        let known = latest.subscriptions.first { $0.name == name && $0.query == query }
        guard let known else {
            let set = try await engine.subscriptions.update {
                $0.insertOrAssign(query, named: name)
            }
            if waiting != .never { try await wait(for: set, timeout) }
            let made = set.subscriptions.first { $0.name == name && $0.query == query }
            guard let made else {
                throw SyncError(.storeFailed, "the subscription is not in its set")
            }
            return made
        }
        if waiting == .always {
            try await engine.subscriptions.waitForSynchronization(
                of: latest.version, asking: true, timeout: timeout)
        }
        return known
    }

    /// Ends the subscription that has a filter and no name; its documents leave the device, except
    /// those that another subscription or an id keeps here, or whose change was not sent.
    ///
    /// - Parameters:
    ///   - waiting: whether to wait until they left.
    ///   - timeout: how long at most; the subscription has ended also when the time is up.
    /// - Returns: whether there was such a subscription.
    @discardableResult
    public func unsubscribe(
        from filter: BSONDocument = [:], waitForSync waiting: WaitForSync = .always,
        timeout: Duration? = nil
    ) async throws -> Bool {
        let query = try query(filter)
        let known = try engine.subscriptions.latest.subscriptions.first {
            $0.name == nil && $0.query == query
        }
        guard let known else { return false }
        return try await engine.subscriptions.remove(known, waitForSync: waiting, timeout: timeout)
    }

    private func wait(for set: SubscriptionSet, _ timeout: Duration?) async throws {
        try await engine.subscriptions.waitForSynchronization(of: set.version, timeout: timeout)
    }
}

extension SyncSubscriptions {
    /// Ends a subscription, as ``SyncCollection/unsubscribe(from:waitForSync:timeout:)`` does.
    @discardableResult
    public func remove(
        _ subscription: Subscription, waitForSync waiting: WaitForSync = .always,
        timeout: Duration? = nil
    ) async throws -> Bool {
        let id = subscription.id
        guard try latest.subscriptions.contains(where: { $0.id == id }) else { return false }
        let set = try await update { $0.remove(id: id) }
        if waiting != .never {
            try await waitForSynchronization(of: set.version, timeout: timeout)
        }
        return true
    }

    /// Ends the subscription of a name, as ``SyncCollection/unsubscribe(from:waitForSync:timeout:)``
    /// does.
    @discardableResult
    public func remove(
        named name: String, waitForSync waiting: WaitForSync = .always, timeout: Duration? = nil
    ) async throws -> Bool {
        guard let found = try first(named: name) else { return false }
        return try await remove(found, waitForSync: waiting, timeout: timeout)
    }

    /// Ends all subscriptions, as ``SyncCollection/unsubscribe(from:waitForSync:timeout:)`` does.
    public func removeAll(
        waitForSync waiting: WaitForSync = .always, timeout: Duration? = nil
    ) async throws {
        let set = try await update { $0.removeAll() }
        if waiting != .never {
            try await waitForSynchronization(of: set.version, timeout: timeout)
        }
    }
}

extension SubscriptionChanges {
    /// Asks for the documents of a collection that pass a filter, by a name that must be free.
    ///
    /// - Throws: as ``append(_:named:)`` and ``SubscriptionQuery/init(_:_:)``.
    @discardableResult
    public mutating func append<Document: Sendable>(
        name: String, in collection: SyncCollection<Document>, where filter: BSONDocument = [:]
    ) throws(StoreError) -> Subscription {
        try append(try collection.query(filter), named: name)
    }

    /// Asks for the documents of a collection that pass a filter, without a name.
    ///
    /// - Throws: as ``SubscriptionQuery/init(_:_:)``.
    @discardableResult
    public mutating func append<Document: Sendable>(
        in collection: SyncCollection<Document>, where filter: BSONDocument = [:]
    ) throws(StoreError) -> Subscription {
        insertOrAssign(try collection.query(filter)).subscription
    }

    /// The subscription of a name.
    public func first(named name: String) -> Subscription? {
        subscriptions.first { $0.name == name }
    }
}
