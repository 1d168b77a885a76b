internal import BSONStore

/// Says that user code did not answer in time.
struct TimeoutError: Error, CustomStringConvertible {
    let limit: Duration

    var description: String { "no answer within \(limit)" }
}

/// Runs user code for a limited time; an answer that comes later is dropped (rule R10).
///
/// The code is told to stop by cancellation, but is not waited for: code that never returns must
/// not stop the engine. That is why its task is not a child task. Code of a task that is cancelled
/// already is not begun.
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
