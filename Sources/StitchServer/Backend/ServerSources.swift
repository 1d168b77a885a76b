internal import BSONStore

/// The stages whose documents come from the server and not from a collection.
struct ServerSources: Sendable {
    private let backend: StoreBackend
    private let call: CommandCall

    init(_ backend: StoreBackend, for call: CommandCall) {
        self.backend = backend
        self.call = call
    }

    /// The stages by name.
    var byName: [String: ServerStage] {
        [
            "$currentOp": ServerStage { (options) throws(StoreError) in
                try stored { try ServerStageCheck.checkCurrentOp(options, call) }
            } documents: { (options, _) throws(StoreError) in
                operations(withIdle: options.documentValue?["idleConnections"]?.boolValue == true)
            },
            "$indexStats": ServerStage { (options) throws(StoreError) in
                try stored { try ServerStageCheck.checkIndexStats(options) }
            } documents: { (_, namespace) throws(StoreError) in
                try indexStatistics(namespace)
            },
            "$collStats": ServerStage { (options) throws(StoreError) in
                try stored { try ServerStageCheck.checkCollStats(options) }
            } documents: { (options, namespace) throws(StoreError) in
                [try collectionStatistics(options, namespace)]
            },
            // A change stream at the beginning of a pipeline is handled elsewhere.
            ChangeStreamStage.name: ServerStage { (_, _) throws(StoreError) in
                try stored { throw ChangeStreamStage.mustBeFirst }
            },
            SplitEvent.stage: ServerStage { (argument, _) throws(StoreError) in
                try stored {
                    try SplitEvent.refuse(argument)
                    return []
                }
            },
            "$planCacheStats": ServerStage { (options) throws(StoreError) in
                try stored { try ServerStageCheck.checkPlanCacheStats(options) }
            } documents: { (_, _) throws(StoreError) in
                // The server caches no plans.
                []
            },
            "$listSearchIndexes": ServerStage { (_, _) throws(StoreError) in
                throw StoreError(
                    StoreError.Code(rawValue: CommandFailure.searchUnavailable.code),
                    CommandFailure.searchUnavailable.message)
            },
            "$listLocalSessions": ServerStage { (options) throws(StoreError) in
                try stored { try ServerStageCheck.checkListLocalSessions(options, call) }
            } documents: { (_, _) throws(StoreError) in
                try localSessions()
            },
            "$listSessions": ServerStage { (_) throws(StoreError) in
                try stored { try ServerStageCheck.checkListSessions(call) }
            } documents: { (_, _) throws(StoreError) in
                try localSessions()
            },
        ]
    }

    /// Whether the user may see what other users do; users always see their own.
    private func seesOtherUsers() -> Bool {
        guard backend.server.settings.requiresSignIn else { return true }
        return call.connection.state.withLock { $0.user }?.has(.monitoring, on: "admin") ?? false
    }

    private func operations(withIdle: Bool) -> [BSONDocument] {
        let (all, own) = (seesOtherUsers(), call.cursorOwner)
        let operations = backend.server.operations.all.filter {
            all || $0.call.cursorOwner.isSameUser(as: own)
        }
        let cursors = backend.cursors.all.filter { all || $0.owner.isSameUser(as: own) }
        let user = call.connection.state.withLock { $0.user?.storedID }
        let idle =
            !withIdle
            ? []
            : backend.server.clients.filter { entry in
                guard !entry.isWaiting, !all else { return !entry.isWaiting }
                let other = entry.connection.state.withLock { $0.user?.storedID }
                guard let user, let other else { return false }
                return other.hasSameBytes(as: user)
            }
        return operations.map(\.document) + idle.map(\.client.idleEntry)
            + cursors.map { cursor in
                [
                    "type": "idleCursor", "ns": .string(cursor.namespace.description),
                    "cursor": ["cursorId": .int64(cursor.id), "nDocsReturned": .int64(0)],
                ]
            }
    }

    private func localSessions() throws(StoreError) -> [BSONDocument] {
        let all = seesOtherUsers()
        let user = call.connection.state.withLock { $0.user }
        let own = try stored { try user.map(SessionTable.userID) }
        return backend.sessions.all.filter { all || $0.document["uid"] == own }.map(\.entry)
    }

    /// Returns the collection of a pipeline.
    ///
    /// - Throws: 73 (InvalidNamespace) if the pipeline runs on a database.
    private func collection(_ namespace: Namespace) throws -> Namespace {
        namespace.collection == Namespace.databaseAggregate ? try call.collection() : namespace
    }

    private func indexStatistics(_ namespace: Namespace) throws(StoreError) -> [BSONDocument] {
        try stored {
            let namespace = try collection(namespace)
            return try backend.store.readReentrantly { try $0.indexes(namespace) }.map { index in
                [
                    "name": .string(index.name), "key": .document(index.keyPattern),
                    // The server does not count uses, so that it has no `accesses`: a count of 0
                    // would say that the index can be dropped.
                    "host": .string(call.connection.local),
                    "spec": .document(index.document),
                ]
            }
        }
    }

    private func collectionStatistics(
        _ options: BSONValue, _ namespace: Namespace
    ) throws(StoreError) -> BSONDocument {
        try stored {
            let namespace = try collection(namespace)
            let (usage, collection) = try backend.store.readReentrantly { transaction in
                let collection = try transaction.options(namespace)
                guard collection?.view == nil else { throw StoreError.view(namespace) }
                return (try CollectionUsage(namespace, transaction), collection)
            }
            var entry: BSONDocument = [
                "ns": .string(namespace.description), "host": .string(call.connection.local),
                "localTime": .datetime(.now),
            ]
            for part in ["storageStats", "count"] where options.documentValue?[part] != nil {
                guard collection != nil else {
                    throw CommandFailure(
                        26,
                        "Unable to retrieve \(part) in $collStats stage :: caused by :: Collection "
                            + "[\(namespace)] not found.")
                }
            }
            if options.documentValue?["count"] != nil {
                entry.append("count", .int64(Int64(usage.count)))
            }
            if options.documentValue?["storageStats"] != nil {
                var storage: BSONDocument = [
                    "size": .int64(Int64(usage.bytes)), "count": .int64(Int64(usage.count)),
                    "storageSize": .int64(Int64(usage.bytes)),
                ]
                storage.append("capped", .bool(collection?.capped != nil))
                if let capped = collection?.capped {
                    storage.append("max", .int64(capped.documentsMax ?? 0))
                    storage.append("maxSize", .int64(capped.bytesMax))
                }
                usage.addIndexes(to: &storage, StatsScale.one)
                entry.append("storageStats", .document(storage))
            }
            return entry
        }
    }

    /// Runs a body and converts its errors to the store's.
    private func stored<R>(_ body: () throws -> R) throws(StoreError) -> R {
        do {
            return try body()
        } catch {
            let fault = CommandFailure(error)
            throw StoreError(StoreError.Code(rawValue: fault.code), fault.message)
        }
    }
}
