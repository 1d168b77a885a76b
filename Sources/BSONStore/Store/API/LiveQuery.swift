/// Gives the documents that match a filter, and again each time they are others.
///
/// The first snapshot is there at once. Commits that come fast are taken together: no snapshot is
/// older than the moment at which it is asked for.
public struct LiveQuery: AsyncSequence, Sendable {
    /// One state of the documents that pass, with what is new in it.
    public struct Snapshot: Sendable, Hashable {
        /// The documents in their order.
        public let documents: [BSONDocument]
        /// The `_id`s of documents that were not in the snapshot before, in order.
        public let inserted: [BSONValue]
        /// The `_id`s of documents that have another content than before, in order.
        public let changed: [BSONValue]
        /// The `_id`s of documents that are no longer there, in their old order.
        public let removed: [BSONValue]

        /// Compares documents by their ids with those of the snapshot before.
        init(_ documents: [BSONDocument], after before: [BSONDocument]) {
            self.documents = documents
            let old = Self.byID(before)
            let new = Self.byID(documents)
            var inserted: [BSONValue] = []
            var changed: [BSONValue] = []
            for document in documents {
                guard let id = document["_id"] else { continue }
                guard let known = old[BSONKey.encode(id)] else {
                    inserted.append(id)
                    continue
                }
                if known != document { changed.append(id) }
            }
            self.inserted = inserted
            self.changed = changed
            removed = before.compactMap { document in
                guard let id = document["_id"], new[BSONKey.encode(id)] == nil else { return nil }
                return id
            }
        }

        private static func byID(_ documents: [BSONDocument]) -> [[UInt8]: BSONDocument] {
            var found: [[UInt8]: BSONDocument] = [:]
            for document in documents {
                if let id = document["_id"] { found[BSONKey.encode(id)] = document }
            }
            return found
        }
    }

    /// One snapshot.
    public typealias Element = Snapshot

    let collection: DocumentCollection
    let filter: Filter
    let options: FindOptions

    /// Begins with what is there.
    public func makeAsyncIterator() -> Iterator { Iterator(query: self) }

    /// Waits for other documents.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let query: LiveQuery
        private var last: [BSONDocument]?

        fileprivate init(query: LiveQuery) { self.query = query }

        /// Returns the next snapshot; `nil` once the task is cancelled.
        ///
        /// - Throws: as ``DocumentCollection/find(_:options:)``, and `closed` once the store is.
        public mutating func next() async throws -> Snapshot? {
            let store = query.collection.store
            while !Task.isCancelled {
                let count = store.commitWatch.count
                let documents = try store.read { transaction in
                    try transaction.find(
                        query.collection.namespace, filter: query.filter, options: query.options)
                }
                if documents != last {
                    defer { last = documents }
                    return Snapshot(documents, after: last ?? [])
                }
                do {
                    try await store.commitWatch.wait(after: count, in: store)
                } catch is CancellationError {
                    return nil
                }
            }
            return nil
        }
    }
}

extension DocumentCollection {
    /// Follows the documents that match a filter, also through commits of other processes.
    ///
    /// - Parameter limit: how many documents a snapshot has at most; 0 for all.
    /// - Throws: for an invalid filter or limit.
    public func observe(
        _ filter: BSONDocument = [:], sort: SortOrder? = nil, limit: Int = 0
    ) throws(StoreError) -> LiveQuery {
        LiveQuery(
            collection: self, filter: try Filter(filter),
            options: try FindOptions(sort: sort, limit: limit))
    }
}
