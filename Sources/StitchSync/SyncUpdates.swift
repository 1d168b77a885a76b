/// Gives a value now and each time that it is another, at the reader's pace.
public struct SyncUpdates<Element: Sendable & Equatable>: AsyncSequence, Sendable {
    let changed: Signal
    let read: @Sendable () async throws -> Element

    /// Begins with the value as it is then.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(changed: changed, read: read)
    }

    /// Steps through the values.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let changed: Signal
        let read: @Sendable () async throws -> Element
        private var last: Element?

        init(changed: Signal, read: @escaping @Sendable () async throws -> Element) {
            self.changed = changed
            self.read = read
        }

        /// The next value that differs from the last; `nil` once the task is cancelled.
        ///
        /// - Throws: `StoreError` when the store cannot be read.
        public mutating func next() async throws -> Element? {
            while !Task.isCancelled {
                let seen = changed.count
                let value = try await read()
                if value != last {
                    last = value
                    return value
                }
                await changed.wait(after: seen)
            }
            return nil
        }
    }
}
