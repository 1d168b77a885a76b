import BSONStore
import TestProcesses

/// Runs what blocks on a thread of its own.
enum BlockingThread {
    /// Runs a body and waits for it without holding a thread of the tasks.
    static func run<R: Sendable>(
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
