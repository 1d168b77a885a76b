internal import BSONStore
internal import StitchSync

/// A call that a cancelled caller leaves at once, but that itself is not cancelled.
///
/// A change stream in the middle of a command would be lost with its place on the server; so the
/// command is waited for, and the stream kept for the next reader.
enum AbandonableCall {
    /// Runs a body in a task of its own and returns its result.
    ///
    /// - Parameter body: receives a closure that returns whether the caller still waits; it must
    ///   end soon once the caller does not.
    /// - Throws: the body's error, or one of class `.retryable` after a cancellation.
    static func run<R: Sendable>(
        _ body:
            @escaping @Sendable (
                _ isWanted: @escaping @Sendable () -> Bool
            ) async throws(RemoteError) -> R
    ) async throws(RemoteError) -> R {
        let answer = FirstAnswer<Result<R, RemoteError>>()
        let isWanted = Locked(true)
        Task {
            do throws(RemoteError) {
                answer.give(.success(try await body { isWanted.withLock { $0 } }))
            } catch {
                answer.give(.failure(error))
            }
        }
        return try await withTaskCancellationHandler {
            await answer.value
        } onCancel: {
            isWanted.withLock { $0 = false }
            answer.give(.failure(RemoteError(.retryable, "cancelled")))
        }.get()
    }
}
