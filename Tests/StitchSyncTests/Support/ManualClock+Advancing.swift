import StitchSyncTesting

@testable import BSONStore

extension ManualClock {
    /// Lets time pass until a body ends, also for who begins to wait only now.
    ///
    /// - Parameter start: what is waited for before time passes.
    func advance(
        by step: Duration, from start: Signal? = nil,
        until body: @escaping @Sendable () async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await body() }
            await start?.wait(after: 0)
            group.addTask {
                while !Task.isCancelled {
                    self.advance(by: step)
                    await Task.yield()
                }
            }
            try await group.next()
            group.cancelAll()
        }
    }
}
