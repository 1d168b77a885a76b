import BSONStore

/// Calls of asynchronous functions by a thread that waits for them.
enum BlockingCall {
    /// The pause between two looks at the thread's budget, in milliseconds.
    private static let pauseMS = 50

    /// Runs a body as a task and waits for its result; the thread's `WorkBudget` cancels the task.
    ///
    /// Only threads of one's own may wait, never those of tasks.
    static func run<R: Sendable>(_ body: @escaping @Sendable () async throws -> R) throws -> R {
        let answer = ThreadCondition<Result<R, any Error>?>(nil)
        let task = Task {
            let result: Result<R, any Error>
            do {
                result = .success(try await body())
            } catch {
                result = .failure(error)
            }
            answer.withLock(waking: .one) { $0 = result }
        }
        let budget = WorkBudget.current
        let result = answer.wait { result -> ThreadWait<Result<R, any Error>> in
            if let result { return .done(result) }
            guard let budget else { return .forSignal }
            // The task ends soon; its command goes on at the server while it is connected.
            if budget.fault != nil { task.cancel() }
            return .forSignalOr(milliseconds: Self.pauseMS)
        }
        if let fault = budget?.fault { throw fault }
        return try result.get()
    }
}
