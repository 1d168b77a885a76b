/// A sequence of a store's changes in batches: first the recorded ones, then each new one.
///
/// Every batch has at least one change. Save its ``StoreChangeBatch/position`` once its changes are
/// processed: a sequence that begins there continues where this one ended, also after a restart.
public struct StoreChanges: AsyncSequence, Sendable {
    /// One batch of changes in commit order.
    public typealias Element = StoreChangeBatch

    let store: DocumentStore
    let position: Int64
    let namespace: Namespace?
    let limit: Int

    /// Returns an iterator that begins after the position.
    public func makeAsyncIterator() -> Iterator { Iterator(sequence: self, position: position) }

    /// An iterator that waits for changes.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let sequence: StoreChanges
        fileprivate var position: Int64

        /// Returns the next batch with a change; `nil` once the task is cancelled.
        ///
        /// - Throws: as ``DocumentStore/changes(after:in:limit:)``, and `closed` once the store is.
        public mutating func next() async throws -> StoreChangeBatch? {
            let store = sequence.store
            while !Task.isCancelled {
                // The count is read first: a commit after it ends the wait at once.
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
