internal import BSONStore

extension Signal {
    /// Waits as ``wait(after:)`` does, with a time limit.
    ///
    /// - Throws: `CancellationError`.
    func wait(
        after count: Int, atMost limit: Duration, clock: any Clock<Duration>
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await clock.sleep(for: limit) }
            group.addTask { await self.wait(after: count) }
            defer { group.cancelAll() }
            try await group.next()
        }
        try Task.checkCancellation()
    }
}
