internal import BSONStore

/// Runs what blocks on a thread of its own.
package enum BlockingThread {
    /// Runs a body and waits for it without holding a thread of the tasks.
    package static func run<R: Sendable>(
        _ body: @escaping @Sendable () throws -> R
    ) async throws -> R {
        try await withCheckedThrowingContinuation { continuation in
            let isStarted = DetachedThread.start {
                continuation.resume(with: Result { try body() })
            }
            if !isStarted {
                continuation.resume(throwing: ProgramFailure(reason: "no thread is left"))
            }
        }
    }
}
