internal import BSONStore

/// The upstream as a place with buckets of files.
struct UpstreamAttachments: AttachmentSweepPlace {
    static let quarantineMS = AttachmentSweepLimits.quarantineMS
    private static let own: Set<Name> = ["admin", "config", "local", Name(GatewayDatabase.name)]

    let link: UpstreamLink
    /// The client's command; `nil` for the gateway's own work.
    let call: CommandCall?

    /// Runs once over all buckets of the upstream.
    ///
    /// - Throws: the upstream's errors.
    func sweep(
        now: BSONDatetime, graceMS: Int64 = AttachmentSweepLimits.graceMS
    ) throws -> AttachmentSweep<Self>.Counts {
        let reply = try link.run(
            ["listDatabases": 1, "nameOnly": true], on: "admin", repeatedAs: .read, for: call)
        let names = (reply["databases"]?.arrayValue ?? []).compactMap {
            $0.documentValue?["name"]?.stringValue
        }
        var counts = AttachmentSweep<Self>.Counts()
        for name in names where !Self.own.contains(Name(name)) {
            let bucket = AttachmentBucket(database: name)
            try AttachmentSweep(bucket, at: self, now: now, graceMS: graceMS).run(&counts)
        }
        return counts
    }

    func find(
        _ namespace: Namespace, _ filter: BSONDocument, sort: BSONDocument, limit: Int
    ) throws -> [BSONDocument] {
        var query = UpstreamQuery(filter: filter, limit: limit)
        if !sort.isEmpty { query.sort = sort }
        if AttachmentBucket.holds(namespace) { query.projection = ["data": 0] }
        query.collation = ["locale": "simple"]
        query.isSmall = true
        var found: [BSONDocument] = []
        try link.find(namespace, query, for: call) { found.append($0) }
        return found
    }

    func insert(_ namespace: Namespace, _ document: BSONDocument) throws -> Bool {
        let reply = try link.changeBucket(
            AttachmentBucket.insertion(of: [document], into: namespace, isOrdered: true),
            on: namespace.database, for: call)
        return !AttachmentBucket.errors(in: reply).isDuplicate
    }

    func update(
        _ namespace: Namespace, _ filter: BSONDocument, _ update: BSONDocument
    ) throws -> Bool {
        let reply = try link.changeBucket(
            [
                "update": .string(namespace.collection),
                "updates": [["q": .document(filter), "u": .document(update)]],
            ], on: namespace.database, for: call)
        return (reply["n"]?.wholeNumber ?? 0) > 0
    }

    func remove(_ namespace: Namespace, _ filter: BSONDocument) throws {
        _ = try link.changeBucket(
            [
                "delete": .string(namespace.collection),
                "deletes": [["q": .document(filter), "limit": 0]],
            ], on: namespace.database, for: call)
    }

    func removeChunks(
        of file: BSONValue, in bucket: AttachmentBucket, during removal: BSONDocument
    ) throws -> Int {
        let ids = try find(
            bucket.chunks, ["files_id": file], sort: ["n": 1],
            limit: AttachmentSweepLimits.chunksAtOnce
        ).compactMap { $0["_id"] }
        guard !ids.isEmpty else { return 0 }
        let reply = try link.changeBucket(
            AttachmentBucket.removal(of: ids, from: bucket.chunks), on: bucket.database, for: call)
        return reply["n"]?.wholeNumber ?? 0
    }
}
