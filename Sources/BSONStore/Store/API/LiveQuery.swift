/// A sequence of the documents that match a filter: one snapshot at once, another after each
/// change.
///
/// ```swift
/// for try await snapshot in try todos.find { !$0.done }.sort(\.due).observe() {
///     show(snapshot.documents)
/// }
/// ```
///
/// Commits in quick succession are combined: a snapshot is never older than the call that asks for
/// it. Changes that sync downloads and commits of other processes count, too. The sequence ends
/// when its task is cancelled.
public struct LiveQuery<Document: Sendable>: AsyncSequence, Sendable {
    /// One result of the query and its differences from the snapshot before.
    ///
    /// A document that does not decode is in ``failures``. For the lists it does not exist: it is
    /// removed when it no longer decodes, and inserted when it decodes again.
    public struct Snapshot: Sendable {
        /// The matching documents that decoded, in their order.
        public let documents: [Document]
        /// The matching documents that did not decode, in their order.
        public let failures: [DocumentDecodingFailure]
        /// The `_id` of each of the documents.
        public let ids: [BSONValue]
        /// The differences of the documents from those of the snapshot before, by `_id`; in the
        /// first snapshot all documents are inserted.
        public let changes: ListChanges
        /// The `_id`s of documents that only the snapshot before had, in its order.
        public let removedIDs: [BSONValue]

        /// The `_id`s of documents that the snapshot before did not have, in order.
        public var insertedIDs: [BSONValue] { changes.inserted.map { ids[$0] } }
        /// The `_id`s of documents whose content differs from the snapshot before, in order.
        public var changedIDs: [BSONValue] { changes.changed.map { ids[$0] } }

        init(_ list: LiveQueryList<Document>, after before: LiveQueryList<Document>?) {
            documents = list.rows.map(\.document)
            failures = list.failures
            ids = list.rows.map(\.id)
            let old = before?.rows ?? []
            changes = ListChanges(from: old.map(\.key), to: list.rows.map(\.key)) {
                old[$0].stored != list.rows[$1].stored
            }
            removedIDs = changes.removed.map { old[$0].id }
        }
    }

    /// One snapshot.
    public typealias Element = Snapshot

    private let store: DocumentStore
    private let namespace: Namespace
    private let filter: Filter
    private let options: FindOptions
    private let decode: @Sendable (BSONDocument) throws -> Document

    /// Creates a query whose documents a closure decodes.
    init(
        _ store: DocumentStore, _ namespace: Namespace, _ filter: Filter, _ options: FindOptions,
        decode: @escaping @Sendable (BSONDocument) throws -> Document
    ) {
        self.store = store
        self.namespace = namespace
        self.filter = filter
        self.options = options
        self.decode = decode
    }

    /// Returns an iterator whose first snapshot holds the current documents.
    public func makeAsyncIterator() -> Iterator { Iterator(query: self) }

    /// An iterator that waits until the documents differ.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        /// The query; another one continues with the differences from the last snapshot.
        var query: LiveQuery
        private var last: LiveQueryList<Document>?

        fileprivate init(query: LiveQuery) { self.query = query }

        /// Returns the next snapshot; `nil` once the task is cancelled.
        ///
        /// - Throws: as a query does, and `closed` once the store is.
        public mutating func next() async throws -> Snapshot? {
            let store = query.store
            while !Task.isCancelled {
                let count = store.commitWatch.count
                if let (list, snapshot) = try await query.read(after: last) {
                    last = list
                    return snapshot
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

    /// Returns the documents and their differences; `nil` if there are none.
    ///
    /// It runs on Swift's pool, so that a view's query reads and decodes off the main thread.
    @concurrent
    private func read(
        after last: LiveQueryList<Document>?
    ) async throws -> (LiveQueryList<Document>, Snapshot)? {
        let stored = try store.read { transaction in
            try transaction.find(namespace, filter: filter, options: options)
        }
        guard stored != last?.stored else { return nil }
        let list = LiveQueryList(stored, after: last, by: decode)
        return (list, Snapshot(list, after: last))
    }
}
