/// Gives the changes of a store batch by batch, those that are there and those to come.
///
/// Every batch has at least one change. Keep its ``StoreChangeBatch/position`` once its changes are
/// dealt with: a sequence that begins there goes on where this one was left, also after a restart.
public struct StoreChanges: AsyncSequence, Sendable {
    /// One batch of changes in commit order.
    public typealias Element = StoreChangeBatch

    let store: DocumentStore
    let position: Int64
    let namespace: Namespace?
    let limit: Int

    /// Begins behind the position.
    public func makeAsyncIterator() -> Iterator { Iterator(sequence: self, position: position) }

    /// Waits for changes.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let sequence: StoreChanges
        fileprivate var position: Int64

        /// Returns the next batch with a change; `nil` once the task is cancelled.
        ///
        /// - Throws: as ``DocumentStore/changes(after:in:limit:)``, and `closed` once the store is.
        public mutating func next() async throws -> StoreChangeBatch? {
            let store = sequence.store
            while !Task.isCancelled {
                // Counted before reading: a commit after it ends the wait at once.
                let count = store.commitWatch.count
                let batch = try store.changes(
                    after: position, in: sequence.namespace, limit: sequence.limit)
                position = batch.position
                if !batch.changes.isEmpty { return batch }
                guard batch.isAtEnd else { continue }
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

extension DocumentStore {
    /// Returns the changes behind a position and all that follow, also those of other processes,
    /// which come within 32 ms.
    ///
    /// - Parameters:
    ///   - position: begins behind this one; 0 at the beginning, ``changePosition`` with what comes.
    ///   - namespace: only this collection's changes, `nil` for all.
    ///   - limit: how many changes a batch has at most.
    public func followChanges(
        after position: Int64, in namespace: Namespace? = nil, limit: Int = 1_000
    ) -> StoreChanges {
        StoreChanges(store: self, position: position, namespace: namespace, limit: limit)
    }
}
