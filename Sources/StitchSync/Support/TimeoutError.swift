internal import BSONStore

/// The error of user code that did not return in time.
struct TimeoutError: Error, CustomStringConvertible {
    let limit: Duration

    var description: String { "no answer within \(limit)" }
}

/// Runs user code with a time limit and drops a later result (rule R10).
///
/// After the limit the code's task is cancelled, but the call does not wait for it: code that never
/// returns must not stop the engine. So the task is not a child task. In a cancelled task the code
/// does not start.
func withTimeout<R: Sendable>(
    _ limit: Duration, clock: any Clock<Duration>,
    _ body: @escaping @Sendable () async throws -> R
) async throws -> R {
    try Task.checkCancellation()
    let race = FirstAnswer<Result<R, any Error>>()
    let work = Task { race.give(await Result.catching(body)) }
    let timer = Task {
        do {
            try await clock.sleep(for: limit)
            race.give(.failure(TimeoutError(limit: limit)))
        } catch {
            // The race is over, or the pass was cancelled, which ends the race below.
        }
    }
    defer {
        timer.cancel()
        work.cancel()
    }
    return try await withTaskCancellationHandler {
        try await race.value.get()
    } onCancel: {
        race.give(.failure(CancellationError()))
    }
}

extension Result where Failure == any Error {
    fileprivate static func catching(
        _ body: @Sendable () async throws -> Success
    ) async -> Result {
        do {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }
}
