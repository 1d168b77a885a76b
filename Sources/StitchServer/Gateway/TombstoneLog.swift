internal import BSONStore
internal import StitchRules

/// The deletions of the upstream, which gateways record from its change streams.
///
/// All gateways share one position for each collection. A gateway continues from there every minute,
/// and when a client asks. A device may come from a time before the record begins, such as one that
/// synced with the upstream itself; then the record is completed from the device's position on.
/// Deletions that the upstream's history no longer has are unknown; the answer for them is null.
final class TombstoneLog: Sendable {
    private let link: UpstreamLink
    /// The collections whose deletions are recorded.
    private let namespaces = Locked<Set<Namespace>>([])
    private let lastRun = Locked(ContinuousClock.now)

    /// The time between two runs without a question.
    private static let pause: Duration = .seconds(60)
    /// The largest number of recorded collections.
    private static let countMax = 1_000
    /// The largest number of events in one batch, and of batches at a time.
    private static let batchSize = 1_000
    private static let batchesMax = 1_000

    /// What all gateways know of a collection's record.
    private struct Progress {
        /// The position up to which deletions are recorded.
        let end: FeedToken
        /// The position from which on they are recorded.
        let start: FeedToken
        /// A part before that whose recording was interrupted: where it began, and how far it came.
        let part: (start: FeedToken, end: FeedToken)?
    }

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
                if try progress(of: namespace, link, for: nil) == nil {
                    let place = try newest(namespace, link, for: nil)
                    try set(["token": place, "since": place], of: namespace, link, for: nil)
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
        if isDue { try recordAll() }
    }

    /// Reads on in all collections.
    func recordAll() throws {
        for namespace in namespaces.withLock({ $0 }) { try record(namespace, link, for: nil) }
    }

    /// Answers `stitchsyncTombstones`.
    ///
    /// - Parameter ruleGuard: the rules for the client; `nil` for none.
    /// - Throws: 2 for too many ids, and the upstream's errors.
    func answer(
        _ call: CommandCall, _ link: UpstreamLink, _ ruleGuard: RuleAccessPolicy?,
        _ catalog: UpstreamCatalog
    ) throws -> BSONDocument {
        let namespace = try call.collection()
        let ids = try StitchsyncTombstonesCommand.ids(call)
        // A token that is not the upstream's proves nothing about times.
        let after = call.document("after").flatMap { token in
            Result { try FeedToken(token) }.value
        }
        var known: [[UInt8]: BSONDocument] = [:]
        // A user who may not see every document must not learn which existed.
        if ruleGuard?.access(namespace).seesAll ?? true {
            // Made-up names must not take the places of collections.
            if try catalog.definition(namespace, withIndexes: false, link, for: call) != nil {
                try watch([namespace])
            }
            try record(namespace, link, for: call)
            if let after { try complete(namespace, from: after, link, for: call) }
            known = try tombstones(ids, in: namespace, link, for: call)
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
        _ ids: [BSONValue], in namespace: Namespace, _ link: UpstreamLink, for call: CommandCall
    ) throws -> [[UInt8]: BSONDocument] {
        var found: [[UInt8]: BSONDocument] = [:]
        for some in ids.chunks(of: 1_000) {
            let keys = some.map { BSONValue.document(Self.key($0, namespace)) }
            let query = UpstreamQuery(filter: ["_id": ["$in": .array(BSONArray(keys))]])
            try link.find(GatewayDatabase.tombstones, query, for: call) { tombstone in
                let id = tombstone["_id"]?.documentValue?["id"] ?? .null
                found[BSONKey.encode(id)] = tombstone
            }
            var present = UpstreamQuery(filter: ["_id": ["$in": .array(BSONArray(some))]])
            present.projection = ["_id": 1]
            try link.find(namespace, present, for: call) { document in
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
    private func record(
        _ namespace: Namespace, _ link: UpstreamLink, for call: CommandCall?
    ) throws {
        guard var place = try progress(of: namespace, link, for: call)?.end else { return }
        for _ in 0..<Self.batchesMax {
            let batch: UpstreamBatch
            do {
                batch = try Self.deletes(of: namespace, after: place, link, for: call)
            } catch let fault as CommandFailure
                where UpstreamStream.lostHistory.contains(fault.code)
            {
                // What happened meanwhile stays unknown.
                let now = try newest(namespace, link, for: call)
                try set(["token": now, "since": now], of: namespace, link, for: call)
                return
            }
            try keep(batch.documents, of: namespace, link, for: call)
            // Not a token that leads nowhere, or back: its deletions would be read for ever.
            guard let last = try Self.end(of: batch), place < last else { return }
            try set(["token": last], of: namespace, link, for: call)
            guard batch.documents.count >= Self.batchSize else { return }
            place = last
        }
    }

    /// Records the deletions from a device's position on, if that is before the record's start.
    ///
    /// What was recorded before an interruption is not read again.
    private func complete(
        _ namespace: Namespace, from given: FeedToken, _ link: UpstreamLink,
        for call: CommandCall
    ) throws {
        guard let progress = try progress(of: namespace, link, for: call), given < progress.start
        else { return }
        var (start, place) = (given, given)
        if let part = progress.part, part.start <= given, given <= part.end {
            (start, place) = part
        }
        for _ in 0..<Self.batchesMax {
            let batch: UpstreamBatch
            do {
                batch = try Self.deletes(of: namespace, after: place, link, for: call)
            } catch let fault as CommandFailure where !ErrorLabels.isPassing(fault.code) {
                try call.checkTime()
                // The history does not reach back to it, or the token is of another one.
                return
            }
            try keep(batch.documents, of: namespace, link, for: call)
            let last = try Self.end(of: batch)
            guard batch.documents.count >= Self.batchSize, let last, last < progress.start else {
                return try set(
                    ["since": start], without: ["part"], of: namespace, link, for: call)
            }
            guard place < last else { return }
            place = last
            try set(
                ["part.start": start, "part.end": place], of: namespace, link, for: call)
        }
    }

    private static func deletes(
        of namespace: Namespace, after place: FeedToken, _ link: UpstreamLink,
        for call: CommandCall?
    ) throws -> UpstreamBatch {
        try UpstreamStream.firstBatch(
            command(namespace, after: place.document), .collection(namespace), link, for: call)
    }

    /// The position after a batch.
    private static func end(of batch: UpstreamBatch) throws -> FeedToken? {
        try (batch.documents.last?["_id"]?.documentValue ?? batch.token).map { try FeedToken($0) }
    }

    private func keep(
        _ events: [BSONDocument], of namespace: Namespace, _ link: UpstreamLink,
        for call: CommandCall?
    ) throws {
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
            ], on: GatewayDatabase.name, repeatedAs: .write, for: call)
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
    private func newest(
        _ namespace: Namespace, _ link: UpstreamLink, for call: CommandCall?
    ) throws -> FeedToken {
        try FeedToken(UpstreamStream.token(of: nil, .collection(namespace), link, for: call))
    }

    private static func id(_ namespace: Namespace) -> BSONValue {
        ["deletesOf": .string(namespace.description)]
    }

    /// Returns how far a collection's deletions are recorded; `nil` if they are not.
    private func progress(
        of namespace: Namespace, _ link: UpstreamLink, for call: CommandCall?
    ) throws -> Progress? {
        var query = UpstreamQuery(filter: ["_id": Self.id(namespace)], limit: 1)
        query.isSmall = true
        var found: BSONDocument?
        try link.find(GatewayDatabase.state, query, for: call) { found = $0 }
        func token(_ value: BSONValue?) throws -> FeedToken? {
            try value?.documentValue.map { try FeedToken($0) }
        }
        guard let end = try token(found?["token"]) else { return nil }
        let part = found?["part"]?.documentValue
        let (partStart, partEnd) = (try token(part?["start"]), try token(part?["end"]))
        return Progress(
            // Earlier gateways did not tell where they began.
            end: end, start: try token(found?["since"]) ?? end,
            part: partStart.flatMap { start in partEnd.map { (start: start, end: $0) } })
    }

    private func set(
        _ places: KeyValuePairs<String, FeedToken>, without removed: [String] = [],
        of namespace: Namespace, _ link: UpstreamLink, for call: CommandCall?
    ) throws {
        var fields = BSONDocument()
        for (name, place) in places {
            fields.append(name, .document(place.document))
        }
        var update: BSONDocument = ["$set": .document(fields)]
        if !removed.isEmpty {
            update.append(
                "$unset", .document(BSONDocument(removed.map { ($0, BSONValue.int32(1)) })))
        }
        _ = try link.run(
            [
                "update": .string(GatewayDatabase.state.collection),
                "updates": [
                    ["q": ["_id": Self.id(namespace)], "u": .document(update), "upsert": true]
                ],
            ], on: GatewayDatabase.name, repeatedAs: .write, for: call)
    }
}
