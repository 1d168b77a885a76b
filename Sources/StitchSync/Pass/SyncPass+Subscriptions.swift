internal import BSONStore

/// The upload of writes and the download of subscription sets, in the order in which they were
/// made.
extension SyncPass {
    /// The next request, with the set concerned.
    private struct UploadTurn {
        let order: SubscriptionOrder
        /// The set to download, or the set that the writes precede.
        var version: Int64?
    }

    /// Alternates uploads and subscription sets until all is done or the rest has to wait for the
    /// next pass.
    func takeTurns(_ passes: inout [CollectionPass], _ failedToRead: Set<Int>) async throws {
        var failed = failedToRead
        for index in passes.indices
        where !failed.contains(index) && isMeant(passes[index].namespace) {
            // Subscription sets do not affect the writes of collections that never had a
            // subscription.
            guard try !passes[index].read({ $1.isSubscribed }) else { continue }
            let didSend = try await attempt(&passes[index]) { pass in
                try await Self.localToRemote(&pass, before: nil)
            }
            if !didSend { failed.insert(index) }
        }
        while true {
            let turn = try turn()
            switch turn.order {
            case .nothing: return
            case .sendWrites:
                for index in passes.indices where !failed.contains(index) {
                    guard turn.version != nil || isMeant(passes[index].namespace) else { continue }
                    let didSend = try await attempt(&passes[index]) { pass in
                        try await Self.localToRemote(&pass, before: turn.version)
                    }
                    if !didSend { failed.insert(index) }
                }
                guard let version = turn.version, try !isHeldUp(version) else { return }
            case .receive, .askForSet:
                guard let version = turn.version,
                    try await bootstrap(version, &passes, failed)
                else { return }
            }
        }
    }

    private func turn() throws -> UploadTurn {
        try engine.store.read { transaction in
            let sets = SubscriptionTable(connection: transaction.connection, cache: engine.sets)
            let history = try sets.history()
            let heldUp = try sets.firstHeldUp()
            // Of several sets without a write in between, only the last matters.
            let next = history.waiting.last { $0.version < heldUp ?? .max }
            let order = SubscriptionOrder.decide(
                SubscriptionOrderFacts(
                    isBootstrapping: history.coming != nil,
                    hasUnaskedSet: !history.waiting.isEmpty,
                    hasEarlierWrites: next == nil && heldUp != nil, hasLaterWrites: true))
            switch order {
            case .receive: return UploadTurn(order: order, version: history.coming?.version)
            case .askForSet: return UploadTurn(order: order, version: next?.version)
            case .sendWrites:
                return UploadTurn(order: order, version: history.waiting.isEmpty ? nil : heldUp)
            case .nothing: return UploadTurn(order: order)
            }
        }
    }

    /// Whether a write from before a set is still pending.
    private func isHeldUp(_ version: Int64) throws -> Bool {
        try engine.store.read { transaction in
            let sets = SubscriptionTable(connection: transaction.connection, cache: engine.sets)
            return try sets.firstHeldUp().map { $0 <= version } ?? false
        }
    }
}

// MARK: - The documents of a set

extension SyncPass {
    /// Downloads and stages the documents of a set, and activates the set once all are staged.
    ///
    /// Each step is a transaction that stores the progress, so that the download continues there
    /// after a crash.
    ///
    /// - Returns: whether the set was answered; if not, a later pass continues.
    private func bootstrap(
        _ version: Int64, _ passes: inout [CollectionPass], _ failed: Set<Int>
    ) async throws -> Bool {
        guard let plan = try await beginBootstrap(version) else {
            engine.progress.expectNothing()
            return true
        }
        // A set without new queries needs no request.
        guard !plan.queries.isEmpty else { return try await complete(version, &passes) }
        var progress = plan.progress
        let places = Dictionary(
            uniqueKeysWithValues: passes.enumerated().map { ($1.namespace, $0) })
        let concerned = Set(plan.namespaces.compactMap { places[$0] })
        guard concerned.count == plan.namespaces.count, concerned.isDisjoint(with: failed) else {
            return false
        }
        try await count(plan, passes, places)
        while progress.query < plan.queries.count {
            let query = plan.queries[progress.query]
            guard let place = places[query.namespace] else { return false }
            var next = progress
            var refusal: RemoteError?
            let didRead = try await attempt(&passes[place]) { pass in
                do {
                    next = try await pass.stagePage(of: query, progress, version)
                } catch let error as RemoteError where error.errorClass == .rejected {
                    refusal = error
                }
            }
            if let refusal {
                try await refuse(version, refusal, &passes[place])
                return true
            }
            guard didRead else { return false }
            progress = next
        }
        // The set includes changes during the download of its documents.
        for place in concerned.sorted() {
            guard try await attempt(&passes[place], Self.remoteToLocal) else { return false }
        }
        return try await complete(version, &passes)
    }

    /// Requests the number of documents that a set's queries will still return, for the progress.
    private func count(
        _ plan: Plan, _ passes: [CollectionPass], _ places: [Namespace: Int]
    ) async throws {
        var counts = [Int](repeating: 0, count: plan.queries.count)
        guard plan.progress.query < counts.count else { return }
        for index in plan.progress.query..<plan.queries.count {
            guard let place = places[plan.queries[index].namespace] else { continue }
            counts[index] = try await passes[place].documentCount(plan.queries[index])
        }
        let first = plan.progress.query
        counts[first] = max(0, counts[first] - plan.progress.read)
        engine.progress.expect(counts)
    }

    /// The queries of a set whose documents are not on the device, and the progress.
    private struct Plan: Sendable {
        let queries: [SubscriptionQuery]
        let namespaces: Set<Namespace>
        let progress: SubscriptionTable.Progress
    }

    private func beginBootstrap(_ version: Int64) async throws -> Plan? {
        let cache = engine.sets
        return try await engine.writer.write { transaction -> Plan? in
            let sets = SubscriptionTable(connection: transaction.connection, cache: cache)
            var history = try sets.history()
            guard let set = history.waiting.first(where: { $0.version == version }) else {
                return nil
            }
            _ = history.apply(.bootstrapBegan, to: version)
            try sets.save(history)
            return Plan(
                queries: history.newQueries(of: set),
                namespaces: Set(set.subscriptions.map(\.query.namespace)),
                progress: try sets.progress(of: version))
        }
    }

    private func refuse(
        _ version: Int64, _ error: RemoteError, _ pass: inout CollectionPass
    ) async throws {
        let cache = engine.sets
        try await engine.writer.write { transaction in
            let sets = SubscriptionTable(connection: transaction.connection, cache: cache)
            var history = try sets.history()
            _ = history.apply(.refused(error.message), to: version)
            try sets.save(history)
            try sets.clearStaged()
            try sets.removeEarlier(upTo: version)
        }
        engine.progress.noteSetEnded()
        pass.report.subscriptionSets += 1
        pass.errors.append(
            SyncError(
                .subscriptionFailed, error.description, namespace: pass.namespace,
                underlying: error))
    }

    private func activate(
        _ version: Int64, individually: Bool
    ) async throws -> SubscriptionActivation.Outcome? {
        let (sets, writer) = (engine.sets, engine.writer)
        return try await writer.write { transaction in
            try SubscriptionActivation(
                transaction: transaction, sets: sets, version: version, individually: individually,
                listens: writer.listens
            ).run()
        }
    }

    private func complete(
        _ version: Int64, _ passes: inout [CollectionPass]
    ) async throws -> Bool {
        let activation: SubscriptionActivation.Outcome?
        do {
            activation = try await activate(version, individually: false)
        } catch let cause where SyncTransaction.concernsDocument(cause) {
            activation = try await activate(version, individually: true)
        }
        guard let activation else { return false }
        engine.progress.noteSetEnded()
        for index in passes.indices {
            let share = activation.shares[passes[index].namespace]
            passes[index].report.taken += share?.taken ?? 0
            passes[index].report.evicted += share?.evicted ?? 0
            let errors = share?.errors ?? []
            passes[index].errors += errors
            passes[index].report.paused += errors.count { $0.code != .foreignVersion }
        }
        if !passes.isEmpty { passes[0].report.subscriptionSets += 1 }
        engine.delivery.wake()
        return true
    }
}

// MARK: - Pages

extension CollectionPass {
    /// Reads a page of a query's results and stages it, with the position after it.
    fileprivate mutating func stagePage(
        of query: SubscriptionQuery, _ progress: SubscriptionTable.Progress, _ version: Int64
    ) async throws -> SubscriptionTable.Progress {
        let limit = limits.batchDocuments
        let page = try await request { remote in
            try await remote.find(matching: query.filter, after: progress.last, limit: limit)
        }
        isStaging = true
        if let deep = page.documents.first(where: \.isTooDeep) {
            throw RemoteError(
                .retryable, "a page holds a document that is nested too deeply: \(deep.documentID)")
        }
        let documents = try await claimed(page.documents)
        report.looked += documents.count
        engine.progress.count { progress in
            progress.downloadedBytes += documents.reduce(0) { $0 + $1.byteCount }
        }
        var next = progress
        if page.isLast || page.documents.isEmpty {
            next.query += 1
            (next.last, next.read) = (nil, 0)
        } else {
            next.read += page.documents.count
            next.last = page.documents.last?.documentID
            guard next.last != progress.last else {
                throw RemoteError(
                    .retryable, "the pages of a query do not get on: one ended where it began")
            }
        }
        let place = next
        let isFirst = progress.query == 0
        let fresh = try await write { sync in
            let fresh = try documents.count { try sync.stageDocument($0, isFirstQuery: isFirst) }
            try sync.subscriptions.save(place, of: version)
            return fresh
        }
        engine.progress.countPage(
            page.documents.count, fresh: fresh, ofQuery: progress.query,
            isLast: place.query > progress.query)
        return next
    }

    /// Returns the documents after it gave those without a version one (rule R6).
    private mutating func claimed(_ documents: [BSONDocument]) async throws -> [BSONDocument] {
        let bare = documents.filter { VersionField(of: $0) == .absent }.map(\.documentID)
        guard !bare.isEmpty else { return documents }
        try await claim(bare.map { SyncRecord(documentID: $0, byID: false) })
        let found = try await find(bare).compactMap { lookup in
            if case .found(let document) = lookup { document } else { nil }
        }
        return documents.filter { VersionField(of: $0) != .absent } + found
    }

    /// Requests the ids of documents that match the active set and have no record; after a gap in
    /// the history, nothing else reports them.
    mutating func scanForNewcomers() async throws {
        let sets = engine.sets
        guard try read({ $1.isSubscribed }) else { return }
        try await write { sync in try sync.subscriptions.cancelBootstrap() }
        let queries = try engine.store.read { transaction in
            try SubscriptionTable(connection: transaction.connection, cache: sets).history().active
                .queries(of: namespace)
        }
        let limit = limits.batchDocuments
        for query in queries {
            var last: BSONValue?
            while true {
                let after = last
                let page: RemotePage
                do {
                    page = try await request { remote in
                        try await remote.find(matching: query.filter, after: after, limit: limit)
                    }
                } catch let error as RemoteError where error.errorClass == .rejected {
                    // Local documents stay and are synced; the error is reported to the app.
                    errors.append(
                        SyncError(
                            .subscriptionFailed, error.description, namespace: namespace,
                            underlying: error))
                    break
                }
                let ids = page.documents.map(\.documentID)
                try await write { sync in try sync.wantNewcomers(ids) }
                guard !page.isLast, let end = ids.last else { break }
                last = end
            }
        }
    }
}

extension SyncTransaction {
    /// Stages a document without a record; marks a record as stale whose version differs.
    ///
    /// - Parameter isFirstQuery: whether no other query of the set can have returned the document.
    /// - Returns: whether the document counts as downloaded: newly staged, and not fetched later.
    fileprivate func stageDocument(_ document: BSONDocument, isFirstQuery: Bool) throws -> Bool {
        let id = document.documentID
        guard let known = try record(id) else {
            let isNew = try isFirstQuery || !subscriptions.isStaged(id, in: collection.rowID)
            try subscriptions.stage(document, in: collection.rowID)
            return isNew
        }
        let version = VersionField(of: document)
        guard version != known.version || version == .absent else { return true }
        try hint(known)
        return false
    }

    /// Requests documents that have no record, or only one of a local insert.
    fileprivate func wantNewcomers(_ ids: [BSONValue]) throws {
        for id in ids {
            guard let known = try record(id), known.base == .absent, known.hint == 0 else {
                continue
            }
            try hint(known)
        }
        let changes = ids.map {
            RemoteChange(documentID: $0, isDelete: false, version: nil, operation: nil)
        }
        let batch = RemoteChangeBatch(
            changes: changes, token: ResumeToken([:]), hasMore: false)
        let newcomers = try snapshot.newcomers(in: batch, membership)
        if !newcomers.isEmpty {
            try records.addWanted(newcomers[...], in: collection.rowID, byID: false)
        }
    }
}
