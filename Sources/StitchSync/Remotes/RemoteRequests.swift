internal import BSONStore

/// The sending of requests with a time limit.
struct RemoteRequests: Sendable {
    /// The time limit of one request; `nil` sets none.
    let limit: Duration?
    let clock: any Clock<Duration>

    /// Sends a request to a collection.
    ///
    /// - Parameter wait: the time that the remote may wait for a change, in addition to the limit.
    /// - Throws: `RemoteError`, also after a timeout; `CancellationError`.
    func send<R: Sendable>(
        _ remote: any RemoteCollection, waitingUpTo wait: Duration = .zero,
        _ body: @escaping @Sendable (any RemoteCollection) async throws -> R
    ) async throws -> R {
        try await send(waitingUpTo: wait) { try await body(remote) }
    }

    /// Sends a request, as the form with a collection does.
    func send<R: Sendable>(
        waitingUpTo wait: Duration = .zero, _ body: @escaping @Sendable () async throws -> R
    ) async throws -> R {
        guard let limit else { return try await body() }
        do {
            return try await withTimeout(limit + wait, clock: clock) { try await body() }
        } catch let error as TimeoutError {
            throw RemoteError(.retryable, error.description)
        }
    }
}
