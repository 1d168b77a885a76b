import BSONStore

/// Calls of asynchronous functions by a thread that waits for them.
enum BlockingCall {
    /// Runs a body as a task and waits for its result.
    ///
    /// Only threads of one's own may wait, never those of tasks.
    static func run<R: Sendable>(_ body: @escaping @Sendable () async throws -> R) throws -> R {
        let answer = ThreadCondition<Result<R, any Error>?>(nil)
        Task {
            let result: Result<R, any Error>
            do {
                result = .success(try await body())
            } catch {
                result = .failure(error)
            }
            answer.withLock(waking: .one) { $0 = result }
        }
        let result = answer.wait { result -> ThreadWait<Result<R, any Error>> in
            guard let result else { return .forSignal }
            return .done(result)
        }
        return try result.get()
    }
}
