/// A sequence of the documents that match a filter: one snapshot at once, another after each
/// change.
///
/// Commits in quick succession are combined: a snapshot is never older than the call that asks for
/// it.
public struct LiveQuery: AsyncSequence, Sendable {
    /// One result of the query and its differences from the snapshot before.
    public struct Snapshot: Sendable, Hashable {
        /// The matching documents in their order.
        public let documents: [BSONDocument]
        /// The `_id`s of documents that the snapshot before did not have, in order.
        public let inserted: [BSONValue]
        /// The `_id`s of documents whose content differs from the snapshot before, in order.
        public let changed: [BSONValue]
        /// The `_id`s of documents that only the snapshot before had, in its order.
        public let removed: [BSONValue]

        /// Compares documents by id with those of the snapshot before.
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

    /// Returns an iterator whose first snapshot holds the current documents.
    public func makeAsyncIterator() -> Iterator { Iterator(query: self) }

    /// An iterator that waits until the documents differ.
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
