internal import BSONStore

/// A value now and after each change, at the reader's pace.
///
/// Changes by other engines on the same file count, too, in this process or another.
///
/// ```swift
/// for try await status in todos.statusUpdates {
///     print("\(status.pending) changes to upload")
/// }
/// ```
public struct SyncUpdates<Element: Sendable & Equatable>: AsyncSequence, Sendable {
    let engine: SyncEngine
    let read: @Sendable () async throws -> Element

    /// Returns an iterator that begins with the current value.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(engine: engine, read: read)
    }

    /// An iterator over a value's changes.
    ///
    /// ```swift
    /// var updates = todos.statusUpdates.makeAsyncIterator()
    /// let now = try await updates.next()
    /// ```
    public struct AsyncIterator: AsyncIteratorProtocol {
        let engine: SyncEngine
        let read: @Sendable () async throws -> Element
        private var last: Element?

        init(engine: SyncEngine, read: @escaping @Sendable () async throws -> Element) {
            self.engine = engine
            self.read = read
        }

        /// Waits for a value that differs from the last; returns `nil` once the task is cancelled.
        ///
        /// - Throws: `StoreError` when the store cannot be read, or was closed.
        public mutating func next() async throws -> Element? {
            while !Task.isCancelled {
                let (seen, commits) = (engine.changed.count, engine.store.commitCount)
                try engine.checkIsOpen()
                let value = try await read()
                if value != last {
                    last = value
                    return value
                }
                do {
                    try await engine.waitForChange(after: seen, commits: commits)
                } catch is CancellationError {
                    return nil
                }
            }
            return nil
        }
    }
}
