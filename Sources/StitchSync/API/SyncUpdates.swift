internal import BSONStore

/// Gives a value now and each time that it is another, at the reader's pace, also where another
/// engine on the same file, in this process or another one, changed it.
public struct SyncUpdates<Element: Sendable & Equatable>: AsyncSequence, Sendable {
    let engine: SyncEngine
    let read: @Sendable () async throws -> Element

    /// Begins with the value as it is then.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(engine: engine, read: read)
    }

    /// Steps through the values.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let engine: SyncEngine
        let read: @Sendable () async throws -> Element
        private var last: Element?

        init(engine: SyncEngine, read: @escaping @Sendable () async throws -> Element) {
            self.engine = engine
            self.read = read
        }

        /// The next value that differs from the last; `nil` once the task is cancelled.
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

extension SyncEngine {
    /// Waits until a record may have changed, here or by another engine on the file.
    fileprivate func waitForChange(after seen: Int, commits: Int) async throws {
        let (changed, store) = (changed, store)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await changed.wait(after: seen) }
            group.addTask { try await store.waitForCommit(after: commits) }
            defer { group.cancelAll() }
            try await group.next()
        }
        try Task.checkCancellation()
    }

    /// Waits for a commit of another engine on the file, which alone may sync it; not for long, as it
    /// may have died.
    func waitForOtherEngine(after commits: Int) async throws {
        let (changed, clock, store) = (changed, clock, store)
        let seen = changed.count
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await changed.wait(
                    after: seen, atMost: SyncLimits.otherProcessesEvery, clock: clock)
            }
            group.addTask { try await store.waitForCommit(after: commits) }
            defer { group.cancelAll() }
            try await group.next()
        }
        try Task.checkCancellation()
    }
}
