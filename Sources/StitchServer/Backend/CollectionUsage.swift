internal import BSONStore

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
