internal import BSONStore
internal import StitchRules

extension GatewayBackend {
    /// Runs a command on an excerpt with the definitions of its collections, whose documents the upstream
    /// sends when they are read.
    ///
    /// - Throws: the errors of the body, and the upstream's errors.
    func onEmptyExcerpt<R>(
        _ reader: UpstreamReader, _ body: (_ call: CommandCall, StoreBackend) throws -> R
    ) throws -> R {
        let call = reader.call
        let parts = try reader.definitions(
            of: call.namedCollections, withIndexes: call.namesIndexes)
        let source = UpstreamCandidates(reader, parts)
        return try source.answering {
            try emptyExcerpts.withCollections(parts) { store in
                // Unlike a `FilledExcerpt`, it has no open transaction: nothing in it has to be undone.
                try body(
                    call.withoutTransaction,
                    StoreBackend(
                        store, in: nil, readingFrom: source, sharing: services,
                        under: reader.ruleGuard))
            }
        }
    }

    /// Lists the collections that the user sees, with the UUIDs that they have upstream.
    func listCollections(
        _ definition: CommandDefinition, _ reader: UpstreamReader
    ) throws -> CommandOutcome {
        let (call, ruleGuard) = (reader.call, reader.ruleGuard)
        let entries = try UpstreamCatalog.entries(call.database, [:], reader.link, for: call)
        let parts = entries.compactMap { entry -> CollectionPart? in
            guard let name = entry["name"]?.stringValue, !name.hasBytePrefix("system."),
                ruleGuard?.access(Namespace(call.database, name)).isNever != true
            else { return nil }
            return CollectionPart(
                namespace: Namespace(call.database, name),
                definition: UpstreamCollection(entry: entry, indexes: nil))
        }
        let sorted = parts.sorted { one, _ in one.definition?.viewOn == nil }
        let outcome = try emptyExcerpts.withExcerpt(sorted, isWhole: true) { excerpt in
            let store = excerpt.backend(services, under: ruleGuard)
            return try definition.parse(call.withoutTransaction, store).answer(store)
        }
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
    func listDatabases(
        _ call: CommandCall, _ link: UpstreamLink
    ) throws -> CommandOutcome {
        let reply = try link.run(["listDatabases": 1], on: "admin", repeatedAs: .read, for: call)
        let filter = try Filter(call.document("filter") ?? [:], options: .ofListing)
        let user = call.connection.state.withLock { $0.user }
        let shown = try (reply["databases"]?.arrayValue ?? []).compactMap(\.documentValue)
            .filter { database in
                let name = database["name"]?.stringValue ?? ""
                return user?.hasRole(.read, on: name) == true
            }
            .map { database -> BSONDocument in
                // Sizes would tell of what is hidden.
                call.flag("nameOnly")
                    ? ["name": database["name"] ?? .null]
                    : ["name": database["name"] ?? .null, "sizeOnDisk": 0, "empty": false]
            }
            .filter { try filter.evaluate($0) }
        let databases = BSONArray(shown.map { .document($0) })
        return .reply(["databases": .array(databases), "totalSize": 0, "totalSizeMb": 0])
    }
}

extension CommandCall {
    /// The collections that the command names, also in the stages of its pipeline.
    var namedCollections: [Namespace] {
        if let inner = target.documentValue {
            return inner.firstElement.map { name, _ in
                standing(for: inner, as: signature, givenName: name).namedCollections
            } ?? []
        }
        let own = Result { try collection() }.value.map { [$0] } ?? []
        let others = PipelineCollections.read(by: array("pipeline") ?? [])
        return own + others.map { Namespace(database, $0) }
    }

    /// The operators that need an index.
    static let indexOperators: Set<String> = ["$text", "$near", "$nearSphere", "$geoNear"]

    private static let indexWords = indexOperators.union(["hint", "min", "max"])

    /// Whether a command names an index, or an operator that needs one.
    var namesIndexes: Bool {
        Self.namesIndexes(.document(body), 0)
            || sequences.values.joined().contains { Self.namesIndexes(.document($0), 0) }
    }

    private static func namesIndexes(_ value: BSONValue, _ depth: Int) -> Bool {
        guard depth < 100 else { return true }
        switch value {
        case .document(let document):
            return document.contains { name, inner in
                indexWords.contains(name) || namesIndexes(inner, depth + 1)
            }
        case .array(let array): return array.contains { namesIndexes($0, depth + 1) }
        default: return false
        }
    }
}
