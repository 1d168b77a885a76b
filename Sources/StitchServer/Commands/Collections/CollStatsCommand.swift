internal import BSONStore

/// Reports the size of a collection.
///
/// Source: MongoDB manual, "collStats".
enum CollStatsCommand {
    static let rule = CommandDefinition(
        "collStats", aliases: ["collstats"], [], fields: ["scale": .number, "verbose": .any],
        .store(run))

    private static func run(_ call: CommandCall, _ store: StoreBackend) throws -> CommandOutcome {
        let namespace = try call.collection()
        let scale = try StatsScale(call)
        return .reply(
            try store.read(call) { transaction in
                let options = try transaction.options(namespace)
                guard options?.view == nil else {
                    throw StoreError.view(namespace)
                }
                let usage = try CollectionUsage(namespace, transaction)
                var reply: BSONDocument = [
                    "ns": .string(namespace.description), "size": scale.value(usage.bytes),
                    "count": .int32(Int32(clamping: usage.count)),
                ]
                if usage.count > 0 {
                    reply.append("avgObjSize", .int32(Int32(clamping: usage.bytes / usage.count)))
                }
                let capped = options?.capped
                for (key, value) in [
                    ("numOrphanDocs", 0), ("storageSize", scale.value(usage.bytes)),
                    ("freeStorageSize", 0), ("capped", .bool(capped != nil)),
                ] as [(String, BSONValue)] { reply.append(key, value) }
                if let capped {
                    reply.append("max", .int64(capped.documentsMax ?? 0))
                    reply.append("maxSize", .int64(capped.bytesMax / Int64(scale.factor)))
                }
                usage.addIndexes(to: &reply, scale)
                return reply
            })
    }
}

/// The unit of sizes in a reply.
struct StatsScale: Sendable {
    let factor: Int

    /// Sizes in bytes.
    static let one = StatsScale(factor: 1)

    private init(factor: Int) { self.factor = factor }

    /// Reads the argument `scale`.
    ///
    /// - Throws: 51024 for a value that is not positive.
    init(_ call: CommandCall) throws(CommandFailure) {
        factor = try call.count("scale", atLeast: 1) ?? 1
    }

    func value(_ bytes: Int) -> BSONValue {
        let scaled = bytes / factor
        return Int32(exactly: scaled).map { .int32($0) } ?? .int64(Int64(scaled))
    }
}

/// The counts of a collection; O(n) in its documents.
struct CollectionUsage {
    let count: Int
    let bytes: Int
    let indexes: [IndexDefinition]

    init(_ namespace: Namespace, _ transaction: ReadTransaction) throws {
        var (count, bytes) = (0, 0)
        try transaction.forEach(namespace, filter: .all) { document in
            count += 1
            bytes += document.byteCount
        }
        (self.count, self.bytes) = (count, bytes)
        indexes = try transaction.indexes(namespace)
    }

    /// The estimated size of an index: 32 bytes for each document.
    var indexBytes: Int { count * 32 }

    func addIndexes(to reply: inout BSONDocument, _ scale: StatsScale) {
        reply.append("nindexes", .int32(Int32(indexes.count)))
        reply.append("indexDetails", [:])
        reply.append("indexBuilds", [])
        reply.append("totalIndexSize", scale.value(indexBytes * indexes.count))
        reply.append("totalSize", scale.value(bytes + indexBytes * indexes.count))
        var sizes = BSONDocument()
        for index in indexes { sizes.append(index.name, scale.value(indexBytes)) }
        reply.append("indexSizes", .document(sizes))
        reply.append("scaleFactor", .int32(Int32(clamping: scale.factor)))
    }
}
