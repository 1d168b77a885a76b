internal import BSONStore

/// The push of a pass while a subscription set is pending: it alternates uploads of writes with
/// bootstraps, the downloads of sets, in the order in which the app made them.
///
/// A write that precedes a set is uploaded first: under the new set the remote might refuse it. A
/// write that follows a set is uploaded once the set is active.
struct PushAndBootstrap {
    let pass: SyncPass

    private var engine: PassEngine { pass.engine }

    /// The next thing to do, with the set concerned.
    private struct Turn {
        let order: SubscriptionOrder
        /// The set to download, or the set that the writes precede.
        var version: Int64?
    }

    /// Alternates uploads and bootstraps until all is done or the rest has to wait for the next
    /// pass.
    func run(_ collections: inout [CollectionPass]) async throws {
        try await pushUnsubscribed(&collections)
        while true {
            let cut = Self.cutCollections(collections)
            let turn = try nextTurn(cut)
            switch turn.order {
            case .nothing: return
            case .sendWrites:
                for index in collections.indices
                where turn.version != nil || pass.includes(collections[index].context.namespace) {
                    try await collections[index].push(before: turn.version)
                }
                guard let version = turn.version, try !isHeldUp(version, cut) else { return }
            case .giveWay:
                guard let version = turn.version else { return }
                try await giveWay(to: version)
            case .receive, .askForSet:
                guard let version = turn.version, try await bootstrap(version, &collections) else {
                    return
                }
            }
        }
    }

    /// Pushes the collections that never had a subscription: no set affects their writes.
    private func pushUnsubscribed(_ collections: inout [CollectionPass]) async throws {
        for index in collections.indices
        where collections[index].isPulled && pass.includes(collections[index].context.namespace) {
            if try !collections[index].context.read({ $1.isSubscribed }) {
                try await collections[index].push()
            }
        }
    }

    /// Returns the collections of which nothing can be sent, because they are stopped or the remote has
    /// refused for some time to let them be read.
    ///
    /// Their writes hold up no set, as those of paused documents do not (rule R8). They keep their place
    /// before it.
    private static func cutCollections(_ collections: [CollectionPass]) -> Set<Int64> {
        let cut = collections.filter { !$0.isPulled && $0.context.findings.isCut }
        return Set(cut.map(\.context.collectionNumber))
    }

    /// Decides from the stored sets and the pending writes what comes next.
    private func nextTurn(_ cut: Set<Int64>) throws -> Turn {
        try engine.store.read { transaction in
            let sets = SubscriptionTable(connection: transaction.connection, cache: engine.sets)
            let history = try sets.history()
            let heldUp = try sets.firstHeldUp(except: cut)
            // Of several sets without a write in between, only the last matters.
            let next = history.waiting.last { $0.version < heldUp ?? .max }
            let order = SubscriptionOrder.decide(
                SubscriptionOrderFacts(
                    isBootstrapping: history.coming != nil,
                    isOvertaken: (history.coming?.version).map { $0 < next?.version ?? 0 } ?? false,
                    hasUnaskedSet: !history.waiting.isEmpty,
                    hasEarlierWrites: next == nil && heldUp != nil, hasLaterWrites: true))
            switch order {
            case .receive: return Turn(order: order, version: history.coming?.version)
            case .askForSet, .giveWay: return Turn(order: order, version: next?.version)
            case .sendWrites:
                return Turn(order: order, version: history.waiting.isEmpty ? nil : heldUp)
            case .nothing: return Turn(order: order)
            }
        }
    }

    /// Whether a write from before a set is still pending.
    private func isHeldUp(_ version: Int64, _ cut: Set<Int64>) throws -> Bool {
        try engine.store.read { transaction in
            let sets = SubscriptionTable(connection: transaction.connection, cache: engine.sets)
            return try sets.firstHeldUp(except: cut).map { $0 <= version } ?? false
        }
    }
}

// MARK: - The documents of a set

extension PushAndBootstrap {
    /// Downloads and stages the documents of a set, and activates the set once all are staged.
    ///
    /// Each step is a transaction that stores the progress, so that the download continues there
    /// after a crash.
    ///
    /// - Returns: whether the set was answered; if not, a later pass continues.
    private func bootstrap(
        _ version: Int64, _ collections: inout [CollectionPass]
    ) async throws -> Bool {
        guard let plan = try plan(of: version) else {
            engine.progress.expectNothing()
            return true
        }
        // A set without new queries needs no request.
        guard !plan.queries.isEmpty else {
            guard try await beginBootstrap(version) else { return true }
            return try await complete(version, collections)
        }
        let places = Dictionary(
            uniqueKeysWithValues: collections.enumerated().map { ($1.context.namespace, $0) })
        var progress = plan.progress
        // What the user may not read at all is refused without a request.
        let refusals = refusals(of: plan, collections, places)
        guard let concerned = self.places(of: plan, without: refusals, collections, places) else {
            return false
        }
        guard try await beginBootstrap(version) else { return true }
        try await count(plan, collections, places)

        // Stage. Requests the queries' results page by page; writes each page and the progress.
        var ahead: StageDocuments.PageAhead?
        while progress.query < plan.queries.count {
            let namespace = plan.queries[progress.query].namespace
            if let refusal = refusals[namespace] {
                progress = progress.afterRefusal(by: refusal)
                continue
            }
            guard let place = places[namespace] else { return false }
            switch try await collections[place].stagePage(
                of: plan.queries, from: progress, set: version, ahead)
            {
            case .staged(let next, let page): (progress, ahead) = (next, page)
            case .failed:
                // Stores the refusals since the last commit.
                if !progress.refused.isEmpty { try await store(progress, of: version) }
                return false
            }
        }
        if !progress.refused.isEmpty { try await store(progress, of: version) }

        // Pull again. The set includes the changes during the download of its documents.
        for place in concerned {
            try await collections[place].pull(isBootstrapping: true)
            guard collections[place].isPulled else { return false }
        }

        // Activate. Moves the staged documents to their collections in one transaction.
        let isComplete = try await complete(version, collections)
        if isComplete { report(progress.refused, of: plan, collections, places) }
        return isComplete
    }

    /// Returns why a collection of a new query cannot be read at all, by the collection.
    private func refusals(
        of plan: Plan, _ collections: [CollectionPass], _ places: [Namespace: Int]
    ) -> [Namespace: RemoteError] {
        var refusals: [Namespace: RemoteError] = [:]
        for namespace in plan.namespaces {
            guard let place = places[namespace], !collections[place].isPulled else { continue }
            guard let error = collections[place].context.findings.refusal else { continue }
            let syncError = error.syncError(in: namespace)
            refusals[namespace] =
                syncError.code == .notAuthorized
                ? RemoteError(.rejected, code: error.code, syncError.message) : error
        }
        return refusals
    }

    /// Returns the places of the collections with new queries, without refused ones, in order;
    /// `nil` where one of them was not pulled, so that a later pass continues.
    private func places(
        of plan: Plan, without refusals: [Namespace: RemoteError],
        _ collections: [CollectionPass], _ places: [Namespace: Int]
    ) -> [Int]? {
        var concerned: [Int] = []
        for namespace in plan.namespaces where refusals[namespace] == nil {
            guard let place = places[namespace], collections[place].isPulled else { return nil }
            concerned.append(place)
        }
        return concerned.sorted()
    }

    /// Requests the number of documents that a set's queries will still return, for the progress.
    ///
    /// Beyond some groups of queries the number would cost more than it tells.
    private func count(
        _ plan: Plan, _ collections: [CollectionPass], _ places: [Namespace: Int]
    ) async throws {
        var counts = [Int](repeating: 0, count: plan.queries.count)
        guard plan.progress.query < counts.count else { return }
        let groups = QueryGroup.all(in: plan.queries, from: plan.progress.query)
        guard groups.count <= Self.countedGroupsMax else { return engine.progress.expect(counts) }
        for group in groups {
            guard let place = places[group.namespace], collections[place].isPulled else { continue }
            counts[group.queries.startIndex] = try await StageDocuments(
                context: collections[place].context
            ).documentCount(group)
        }
        let first = plan.progress.query
        counts[first] = max(0, counts[first] - plan.progress.read)
        engine.progress.expect(counts)
    }

    /// The largest number of groups of queries whose documents are counted.
    private static let countedGroupsMax = 100

    /// The queries of a set whose documents are not on the device, and the progress.
    private struct Plan: Sendable {
        let queries: [SubscriptionQuery]
        let progress: SubscriptionTable.Progress

        /// The collections of the queries.
        var namespaces: Set<Namespace> { Set(queries.map(\.namespace)) }
    }

    /// Returns the plan of a set; `nil` if the set does not wait any more.
    private func plan(of version: Int64) throws -> Plan? {
        try engine.store.read { transaction -> Plan? in
            let sets = SubscriptionTable(connection: transaction.connection, cache: engine.sets)
            let history = try sets.history()
            guard let set = history.waiting.first(where: { $0.version == version }) else {
                return nil
            }
            let progress = try sets.progress(of: version)
            return Plan(
                queries: history.newQueries(of: set, isOrdered: progress.isOrdered),
                progress: progress)
        }
    }

    /// Marks a set as bootstrapping: its collections were read, and the remote is asked now.
    ///
    /// - Returns: `false` if the app has replaced the set by a later one meanwhile.
    private func beginBootstrap(_ version: Int64) async throws -> Bool {
        let cache = engine.sets
        return try await engine.writer.write { transaction -> Bool in
            let sets = SubscriptionTable(connection: transaction.connection, cache: cache)
            var history = try sets.history()
            if history.coming?.version == version { return true }
            guard history.waiting.contains(where: { $0.version == version }),
                history.apply(.bootstrapBegan, to: version)
            else { return false }
            try sets.save(history)
            return true
        }
    }

    /// Begins the download of a later set in place of the one that is coming.
    private func giveWay(to version: Int64) async throws {
        let cache = engine.sets
        try await engine.writer.write { transaction in
            try SubscriptionTable(connection: transaction.connection, cache: cache)
                .giveWay(to: version)
        }
        engine.progress.noteSetEnded()
    }

    private func store(
        _ progress: SubscriptionTable.Progress, of version: Int64
    ) async throws {
        let cache = engine.sets
        try await engine.writer.write { transaction in
            try SubscriptionTable(connection: transaction.connection, cache: cache)
                .save(progress, of: version)
        }
    }

    /// The reason why the remote refused queries on a collection.
    private struct Reason: Hashable {
        let namespace: Namespace
        let text: String
    }

    /// Reports the refused queries of a set to the app, once for each reason in a collection.
    private func report(
        _ refused: [SubscriptionTable.Refusal], of plan: Plan, _ collections: [CollectionPass],
        _ places: [Namespace: Int]
    ) {
        var seen: Set<Reason> = []
        for refusal in refused {
            let namespace = plan.queries[refusal.query].namespace
            guard let place = places[namespace],
                seen.insert(Reason(namespace: namespace, text: refusal.message)).inserted
            else { continue }
            let error = RemoteError(.rejected, code: refusal.code, refusal.message)
            collections[place].context.findings.add(
                SyncError(
                    .subscriptionFailed, error.description, namespace: namespace,
                    underlying: error))
        }
    }

    private func activate(
        _ version: Int64, individually: Bool, _ cut: Set<Int64>
    ) async throws -> SubscriptionActivation.Outcome? {
        let (sets, writer, limits) = (engine.sets, engine.writer, engine.limits)
        return try await writer.write { transaction in
            try SubscriptionActivation(
                transaction: transaction, sets: sets, version: version, individually: individually,
                cut: cut, limits: limits, keepsReferences: writer.keepsReferences,
                listens: writer.listens
            ).run()
        }
    }

    /// Activates a set whose documents are all staged and counts what changed.
    ///
    /// If a document cannot be stored, each is stored in a savepoint of its own.
    private func complete(
        _ version: Int64, _ collections: [CollectionPass]
    ) async throws -> Bool {
        let activation: SubscriptionActivation.Outcome?
        let cut = Self.cutCollections(collections)
        do {
            activation = try await activate(version, individually: false, cut)
        } catch let cause where SyncTransaction.concernsDocument(cause) {
            activation = try await activate(version, individually: true, cut)
        }
        guard let activation else { return false }
        engine.progress.noteSetEnded()
        for collection in collections {
            let findings = collection.context.findings
            guard let share = activation.shares[collection.context.namespace] else { continue }
            findings.add(contentsOf: share.errors)
            findings.count { report in
                report.taken += share.taken
                report.evicted += share.evicted
                report.paused += share.errors.count { $0.code != .foreignVersion }
            }
        }
        collections.first?.context.findings.count { $0.subscriptionSets += 1 }
        engine.delivery.wake()
        return true
    }
}
