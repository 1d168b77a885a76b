internal import BSONStore
internal import StitchRules

/// The deletions of the upstream, which gateways record from its change streams.
///
/// All gateways share one position for each collection. A gateway continues from there every minute,
/// and when a client asks. Deletions that the upstream's history no longer has are unknown; the answer
/// for them is null.
final class TombstoneLog: Sendable {
    private let link: UpstreamLink
    /// The collections whose deletions are recorded.
    private let namespaces = Locked<Set<Namespace>>([])
    private let lastRun = Locked(ContinuousClock.now)

    /// The time between two runs without a question.
    private static let pause: Duration = .seconds(60)
    /// The largest number of recorded collections.
    private static let countMax = 1_000
    /// The largest number of events in one batch.
    private static let batchSize = 1_000

    init(_ link: UpstreamLink) { self.link = link }

    /// Records the deletions of collections from now on, or from where a gateway stopped.
    ///
    /// - Throws: the upstream's errors.
    func watch(_ added: [Namespace]) throws {
        for namespace in added {
            let isNew = namespaces.withLock { known in
                known.count < Self.countMax && known.insert(namespace).inserted
            }
            guard isNew else { continue }
            do {
                if try position(of: namespace) == nil {
                    try setPosition(try newest(namespace), of: namespace)
                }
            } catch {
                _ = namespaces.withLock { $0.remove(namespace) }
                throw error
            }
        }
    }

    /// Reads on in all collections, when it is time.
    func tidy() throws {
        let isDue = lastRun.withLock { last in
            guard last + Self.pause <= .now else { return false }
            last = .now
            return true
        }
        guard isDue else { return }
        for namespace in namespaces.withLock({ $0 }) { try record(namespace) }
    }

    /// Answers `stitchsyncTombstones`.
    ///
    /// - Throws: 2 for too many ids, and the upstream's errors.
    func answer(
        _ call: CommandCall, _ ruleGuard: RuleAccessPolicy, _ catalog: UpstreamCatalog
    ) throws -> BSONDocument {
        let namespace = try call.collection()
        let ids = try StitchsyncTombstonesCommand.ids(call)
        var known: [[UInt8]: BSONDocument] = [:]
        // A user who may not see every document must not learn which existed.
        if ruleGuard.access(namespace).seesAll {
            // Made-up names must not take the places of collections.
            if try catalog.definition(namespace, withIndexes: false, link, for: call) != nil {
                try watch([namespace])
            }
            try record(namespace)
            known = try tombstones(ids, in: namespace)
        }
        // A token that is not the upstream's proves nothing about times.
        let after = call.document("after").flatMap { token in
            Result { try FeedToken(token) }.value
        }
        var bytes = 0
        let answers = try ids.map { id -> BSONValue in
            guard let found = known[BSONKey.encode(id)] else { return .null }
            let answer = Self.shown(found, id, after: after)
            bytes += answer.byteCount
            try StitchsyncTombstonesCommand.check(bytes)
            return .document(answer)
        }
        return ["tombstones": .array(BSONArray(answers))]
    }

    private static func shown(
        _ found: BSONDocument, _ id: BSONValue, after place: FeedToken?
    ) -> BSONDocument {
        var shown: BSONDocument = ["_id": id]
        if let version = found["version"] { shown.append("version", version) }
        shown.append("time", found["time"] ?? .null)
        let token = found["token"]?.stringValue ?? ""
        let isAfter = place.map { $0.text.utf8.lexicographicallyPrecedes(token.utf8) } ?? false
        shown.append("isAfter", .bool(isAfter))
        return shown
    }

    /// Returns the tombstones of documents that do not exist, by the keys of their ids.
    private func tombstones(
        _ ids: [BSONValue], in namespace: Namespace
    ) throws -> [[UInt8]: BSONDocument] {
        var found: [[UInt8]: BSONDocument] = [:]
        for some in ids.parts(of: 1_000) {
            let keys = some.map { BSONValue.document(Self.key($0, namespace)) }
            let query = UpstreamQuery(filter: ["_id": ["$in": .array(BSONArray(keys))]])
            try link.find(GatewayDatabase.tombstones, query, for: nil) { tombstone in
                let id = tombstone["_id"]?.documentValue?["id"] ?? .null
                found[BSONKey.encode(id)] = tombstone
            }
            var present = UpstreamQuery(filter: ["_id": ["$in": .array(BSONArray(some))]])
            present.projection = ["_id": 1]
            try link.find(namespace, present, for: nil) { document in
                found[BSONKey.encode(document["_id"] ?? .null)] = nil
            }
        }
        return found
    }

    private static func key(_ id: BSONValue, _ namespace: Namespace) -> BSONDocument {
        ["ns": .string(namespace.description), "id": id]
    }

    // MARK: - Recording

    /// Reads on from the shared position to the present end of the history.
    private func record(_ namespace: Namespace) throws {
        var place = try position(of: namespace)
        while let current = place {
            let command = Self.command(namespace, after: current)
            let batch: UpstreamBatch
            do {
                batch = try UpstreamStream.firstBatch(
                    command, .collection(namespace), link, for: nil)
            } catch let fault as CommandFailure
                where UpstreamStream.lostHistory.contains(fault.code)
            {
                // What happened meanwhile stays unknown.
                try setPosition(try newest(namespace), of: namespace)
                return
            }
            try keep(batch.documents, of: namespace)
            guard let last = batch.documents.last?["_id"]?.documentValue ?? batch.token,
                last != current
            else { return }
            try setPosition(last, of: namespace)
            place = batch.documents.count < Self.batchSize ? nil : last
        }
    }

    private func keep(_ events: [BSONDocument], of namespace: Namespace) throws {
        let updates = events.compactMap { event -> BSONValue? in
            guard event["operationType"] == "delete",
                let id = event["documentKey"]?.documentValue?["_id"]
            else { return nil }
            var content: BSONDocument = [
                "time": .datetime(.now), "token": event["_id"]?.documentValue?["_data"] ?? .null,
            ]
            if let version = event["version"] { content.append("version", version) }
            return [
                "q": ["_id": .document(Self.key(id, namespace))], "u": .document(content),
                "upsert": true,
            ]
        }
        guard !updates.isEmpty else { return }
        _ = try link.run(
            [
                "update": .string(GatewayDatabase.tombstones.collection), "ordered": false,
                "updates": .array(BSONArray(updates)),
            ], on: GatewayDatabase.name, .write, for: nil)
    }

    private static func command(
        _ namespace: Namespace, after token: BSONDocument
    ) -> BSONDocument {
        [
            "aggregate": .string(namespace.collection),
            "pipeline": [
                [
                    "$changeStream": [
                        "startAfter": .document(token),
                        "fullDocumentBeforeChange": "whenAvailable",
                    ]
                ],
                ["$match": ["operationType": "delete"]],
                [
                    "$project": [
                        "operationType": 1, "documentKey": 1,
                        "version": "$fullDocumentBeforeChange.__stitch_sync_version",
                    ]
                ],
            ], "cursor": ["batchSize": .int32(Int32(batchSize))],
            "readConcern": ["level": "majority"],
        ]
    }

    /// Returns the position of now.
    private func newest(_ namespace: Namespace) throws -> BSONDocument {
        try UpstreamStream.token(of: nil, .collection(namespace), link, for: nil)
    }

    private static func id(_ namespace: Namespace) -> BSONValue {
        ["deletesOf": .string(namespace.description)]
    }

    private func position(of namespace: Namespace) throws -> BSONDocument? {
        var query = UpstreamQuery(filter: ["_id": Self.id(namespace)], limit: 1)
        query.isSmall = true
        var found: BSONDocument?
        try link.find(GatewayDatabase.state, query, for: nil) { found = $0 }
        return found?["token"]?.documentValue
    }

    private func setPosition(_ token: BSONDocument, of namespace: Namespace) throws {
        _ = try link.run(
            [
                "update": .string(GatewayDatabase.state.collection),
                "updates": [
                    [
                        "q": ["_id": Self.id(namespace)], "u": ["token": .document(token)],
                        "upsert": true,
                    ]
                ],
            ], on: GatewayDatabase.name, .write, for: nil)
    }
}
