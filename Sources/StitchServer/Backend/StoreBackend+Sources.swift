internal import BSONStore

// The stages whose documents come from the server and not from a collection.
extension StoreBackend {
    /// Returns the stages by name.
    func sources(for call: CommandCall) -> [String: PipelineOptions.Source] {
        [
            "$currentOp": { [self] (options) throws(StoreError) in
                try checked { try ServerStageCheck.checkCurrentOp(options, call) }
                return operations(call)
            },
            "$indexStats": { [self] (options) throws(StoreError) in
                try checked { try ServerStageCheck.checkIndexStats(options) }
                return try indexStatistics(call)
            },
            "$collStats": { [self] (options) throws(StoreError) in
                try checked { try ServerStageCheck.checkCollStats(options) }
                return [try collectionStatistics(call, options)]
            },
            // A change stream at the beginning of a pipeline is handled elsewhere.
            ChangeStreamStage.name: { [self] (_) throws(StoreError) in
                try stored { throw ChangeStreamStage.mustBeFirst }
            },
            SplitEvent.stage: { [self] (argument) throws(StoreError) in
                try stored {
                    try SplitEvent.refuse(argument)
                    return []
                }
            },
            "$planCacheStats": { [self] (options) throws(StoreError) in
                try checked { try ServerStageCheck.checkPlanCacheStats(options) }
                // The server caches no plans.
                return []
            },
            "$listSearchIndexes": { (_) throws(StoreError) in
                throw StoreError(
                    StoreError.Code(rawValue: CommandFailure.searchUnavailable.code),
                    CommandFailure.searchUnavailable.message)
            },
            "$listLocalSessions": { [self] (options) throws(StoreError) in
                try checked { try ServerStageCheck.checkListLocalSessions(options, call) }
                return try localSessions(call)
            },
            "$listSessions": { [self] (_) throws(StoreError) in try localSessions(call) },
        ]
    }

    /// Whether the user may see what other users do; users always see their own.
    private func seesOtherUsers(_ call: CommandCall) -> Bool {
        guard server.settings.requiresSignIn else { return true }
        return call.connection.state.withLock { $0.user }?.has(.monitoring, on: "admin") ?? false
    }

    private func operations(_ call: CommandCall) -> [BSONDocument] {
        let (all, own) = (seesOtherUsers(call), call.cursorOwner)
        return cursors.all.filter { all || $0.owner == own }.map { cursor in
            [
                "type": "idleCursor", "ns": .string(cursor.namespace.description),
                "cursor": ["cursorId": .int64(cursor.id), "nDocsReturned": .int64(0)],
            ]
        }
    }

    private func localSessions(_ call: CommandCall) throws(StoreError) -> [BSONDocument] {
        let all = seesOtherUsers(call)
        let user = call.connection.state.withLock { $0.user }
        let own = try stored { try user.map(SessionTable.userID) }
        return sessions.all.filter { all || $0.document["uid"] == own }.map { session in
            ["_id": .document(session.document), "lastUse": .datetime(.now)]
        }
    }

    private func indexStatistics(_ call: CommandCall) throws(StoreError) -> [BSONDocument] {
        try stored {
            let namespace = try call.collection()
            return try store.readReentrantly { try $0.indexes(namespace) }.map { index in
                [
                    "name": .string(index.name), "key": .document(index.keyPattern),
                    "host": .string(call.connection.local),
                    "accesses": ["ops": .int64(0), "since": .datetime(.now)],
                    "spec": .document(index.document),
                ]
            }
        }
    }

    private func collectionStatistics(
        _ call: CommandCall, _ options: BSONValue
    ) throws(StoreError) -> BSONDocument {
        try stored {
            let namespace = try call.collection()
            let (usage, collection) = try store.readReentrantly { transaction in
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

    /// Runs a check of a stage's argument before documents are read.
    private func checked(_ body: () throws -> Void) throws(StoreError) {
        do throws(StoreError) {
            try stored(body)
        } catch {
            throw error.during(.preparation)
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
