internal import BSONStore
internal import StitchRules

extension GatewayBackend {
    /// Runs a command that reads, for a user under access rules.
    func read(
        _ subject: ReadSubject, _ definition: CommandDefinition, _ call: CommandCall,
        _ link: UpstreamLink, _ ruleGuard: RuleAccessPolicy
    ) throws -> CommandOutcome {
        switch subject {
        case .collections: try listCollections(definition, call, link, ruleGuard)
        case .databases: try listDatabases(call, link)
        case .filter, .query, .count, .firstOfQuery, .pipeline, .explained, .statements,
            .tombstones:
            try readDocuments(subject, definition, call, link, ruleGuard)
        }
    }

    /// Runs a command that reads documents: on an excerpt, unless the upstream or the documents
    /// decide alone.
    private func readDocuments(
        _ subject: ReadSubject, _ definition: CommandDefinition, _ call: CommandCall,
        _ link: UpstreamLink, _ ruleGuard: RuleAccessPolicy
    ) throws -> CommandOutcome {
        let loader = ExcerptLoader(
            link: link, catalog: catalog, ruleGuard: ruleGuard, call: call)
        if let counting = try UpstreamCount(subject, call),
            let (query, collection) = try loader.exactQuery(
                counting.counted, in: counting.namespace)
        {
            let empty = ExcerptPart(namespace: counting.namespace, definition: collection)
            let outcome = try onExcerpt(definition, call, [empty], ruleGuard)
            guard case .reply(let reply) = outcome else { return outcome }
            return .reply(try counting.answer(query, link, for: call, replacing: reply))
        }
        if subject == .filter {
            try FindCommand.checkSubscription(call, call.collection(), ruleGuard)
        }
        let needs = try CommandNeeds(subject, of: call)
        if subject == .filter, let outcome = try find(call, needs, loader, ruleGuard) {
            return outcome
        }
        let parts = try loader.parts(needs)
        return try onExcerpt(definition, call, parts, ruleGuard)
    }

    /// Answers a `find` that documents alone decide about; `nil` for another.
    private func find(
        _ call: CommandCall, _ needs: CommandNeeds, _ loader: ExcerptLoader,
        _ ruleGuard: RuleAccessPolicy
    ) throws -> CommandOutcome? {
        guard !needs.needsIndexes else { return nil }
        let alone = call.alone
        let request = try FindCommand.Request(alone)
        guard request.documentsDecide,
            let candidates = try loader.decidingDocuments(needs, in: request.namespace)
        else { return nil }
        return try FindCommand.answer(
            request, from: candidates, alone, on: front, under: ruleGuard)
    }

    private func onExcerpt(
        _ definition: CommandDefinition, _ call: CommandCall, _ parts: [ExcerptPart],
        isWhole: Bool = false, _ ruleGuard: RuleAccessPolicy
    ) throws -> CommandOutcome {
        try reading.withExcerpt(parts, isWhole: isWhole) { excerpt in
            let store = excerpt.backend(front, under: ruleGuard)
            let alone = call.alone
            return try definition.parse(alone, store).answer(store)
        }
    }

    /// Lists the collections that the user sees, with the UUIDs that they have upstream.
    private func listCollections(
        _ definition: CommandDefinition, _ call: CommandCall, _ link: UpstreamLink,
        _ ruleGuard: RuleAccessPolicy
    ) throws -> CommandOutcome {
        let entries = try UpstreamCatalog.entries(call.database, [:], link, for: call)
        let parts = entries.compactMap { entry -> ExcerptPart? in
            guard let name = entry["name"]?.stringValue, !name.hasPrefix("system."),
                !ruleGuard.access(Namespace(call.database, name)).isNever
            else { return nil }
            return ExcerptPart(
                namespace: Namespace(call.database, name),
                definition: UpstreamDefinition(entry: entry, indexes: nil))
        }
        let sorted = parts.sorted { one, _ in one.definition?.viewOn == nil }
        let outcome = try onExcerpt(definition, call, sorted, isWhole: true, ruleGuard)
        guard case .reply(var reply) = outcome, var cursor = reply["cursor"]?.documentValue else {
            return outcome
        }
        let uuids = Dictionary(
            parts.map { (Name($0.namespace.collection), $0.definition?.uuid) }
        ) { first, _ in first }
        let batch = (cursor["firstBatch"]?.arrayValue ?? []).compactMap(\.documentValue)
        let corrected = batch.map { entry -> BSONValue in
            guard var info = entry["info"]?.documentValue, info["uuid"] != nil,
                let uuid = uuids[entry["name"]?.stringValue ?? ""] ?? nil
            else { return .document(entry) }
            var entry = entry
            info.set("uuid", to: uuid)
            entry.set("info", to: .document(info))
            return .document(entry)
        }
        cursor.set("firstBatch", to: .array(BSONArray(corrected)))
        reply.set("cursor", to: .document(cursor))
        return .reply(reply)
    }

    /// Lists the databases on which the user has a role.
    private func listDatabases(
        _ call: CommandCall, _ link: UpstreamLink
    ) throws -> CommandOutcome {
        let reply = try link.run(["listDatabases": 1], on: "admin", .read, for: call)
        let filter = try Filter(call.document("filter") ?? [:])
        let user = call.connection.state.withLock { $0.user }
        let shown = (reply["databases"]?.arrayValue ?? []).compactMap(\.documentValue)
            .filter { database in
                let name = database["name"]?.stringValue ?? ""
                return filter.matches(database) && user?.hasRole(.read, on: name) == true
            }
            .map { database -> BSONValue in
                // Sizes would tell of what is hidden.
                call.flag("nameOnly")
                    ? ["name": database["name"] ?? .null]
                    : ["name": database["name"] ?? .null, "sizeOnDisk": 0, "empty": false]
            }
        return .reply(["databases": .array(BSONArray(shown)), "totalSize": 0, "totalSizeMb": 0])
    }

    /// Opens a change stream; `nil` for another pipeline.
    func stream(
        _ call: CommandCall, _ link: UpstreamLink, _ ruleGuard: RuleAccessPolicy?
    ) throws -> CommandOutcome? {
        let request = try AggregateRequest(call)
        guard let options = try request.changeStream() else { return nil }
        try request.checkTransaction(call)
        try AggregateCommand.checkStreamConcern(call)
        try AggregateCommand.checkCursor(call)
        let batchSize = try CursorArgument.batchSize(call)
        let stage = try ChangeStreamStage(options, readsTokens: false)
        let namespace = try AggregateCommand.target(call)
        let scope = try ChangeStreamScope(
            namespace, isForCluster: stage.isForCluster, isAtGateway: true)
        let isHidden = scope.namespace.map { ruleGuard?.access($0).isNever == true } ?? false
        if ruleGuard != nil, !isHidden { try keepImages(of: scope, link, for: call) }
        let source = try GatewayStream(
            stage, scope, rest: request.rest,
            options: PipelineOptions(
                let: call.document("let"), collation: try call.collation(),
                sources: ServerSources(front, for: call).byName),
            self, link, under: ruleGuard, for: call)
        return try CursorReply.open(
            source, namespace, call, on: front, under: ruleGuard, batchSize: batchSize,
            options: CursorOptions(isTailable: true, awaitsData: true))
    }

    /// Has the upstream keep the documents before changes: they tell who saw a document that is now
    /// hidden or deleted.
    private func keepImages(
        of scope: ChangeStreamScope, _ link: UpstreamLink, for call: CommandCall
    ) throws {
        switch scope {
        case .collection(let namespace):
            guard
                let known = try catalog.definition(namespace, withIndexes: false, link, for: call)
            else { return }
            guard known.viewOn == nil else { throw StoreError.view(namespace) }
            if !known.keepsImages { try keepImages(of: namespace, link) }
        case .database(let database):
            for entry in try UpstreamCatalog.entries(database, [:], link, for: call) {
                let known = UpstreamDefinition(entry: entry, indexes: nil)
                guard known.viewOn == nil, !known.keepsImages,
                    let name = entry["name"]?.stringValue, !name.hasPrefix("system.")
                else { continue }
                try keepImages(of: Namespace(database, name), link)
            }
        case .cluster: break
        }
    }

    private func keepImages(of namespace: Namespace, _ link: UpstreamLink) throws {
        guard !withoutImages.withLock({ $0.contains(namespace) }) else { return }
        do {
            _ = try link.run(
                [
                    "collMod": .string(namespace.collection),
                    "changeStreamPreAndPostImages": ["enabled": true],
                ], on: namespace.database, .read, for: nil)
        } catch let fault as CommandFailure where ErrorLabels.isPassing(fault.code) {
            // The next stream asks again.
        } catch let fault as CommandFailure {
            // Without the privilege, streams are right but end more often.
            withoutImages.withLock { _ = $0.insert(namespace) }
            link.server.settings.log.write(
                .warning,
                "cannot keep earlier documents of \(namespace), so streams of users under rules "
                    + "end when a document may have left their view: \(fault.message)")
        }
        catalog.forget(namespace)
    }
}
