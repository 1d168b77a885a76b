internal import BSONStore

/// The wait of a cursor for news that its client sees.
///
/// A change is news for every stream of its collection, but most streams must not show it. These go
/// on waiting, without a thread.
final class NewsWait: Sendable {
    private struct State: Sendable {
        var source: any CursorSource
        var wake: (@Sendable () -> Void)?
        /// The number of subscriptions so far, and the end of the last one.
        var number = 0
        var unsubscribe: (@Sendable () -> Void)?
        var isEnded = false
    }

    private let news: CommitNotifier
    private let state: Locked<State>

    init(_ news: CommitNotifier, _ source: any CursorSource) {
        self.news = news
        state = Locked(State(source: source))
    }

    /// The source, which has moved on past what its client does not see.
    var source: any CursorSource { state.withLock { $0.source } }

    /// Waits for news after a number of commits.
    ///
    /// - Parameter wake: is called at most once.
    func begin(after generation: UInt64, _ wake: @escaping @Sendable () -> Void) {
        state.withLock { $0.wake = wake }
        wait(after: generation)
    }

    private func wait(after generation: UInt64) {
        let (number, scope) = state.withLock { state in
            state.number += 1
            return (state.number, state.source.newsScope)
        }
        let unsubscribe = news.wait(after: generation, in: scope) { self.look() }
        let isEnded = state.withLock { state in
            // The news may have come already, and with them another subscription.
            if state.number == number { state.unsubscribe = unsubscribe }
            return state.isEnded
        }
        if isEnded { unsubscribe() }
    }

    private func look() {
        // Read before the news, so that none between the two is missed.
        let generation = news.generation
        let isSeen = state.withLock { $0.isEnded ? nil : $0.source.skipUnseen() }
        guard let isSeen else { return }
        guard isSeen else { return wait(after: generation) }
        let wake = state.withLock { state in
            defer { state.wake = nil }
            return state.wake
        }
        wake?()
    }

    /// Ends the wait.
    func end() {
        let unsubscribe = state.withLock { state in
            state.isEnded = true
            return state.unsubscribe
        }
        unsubscribe?()
    }
}
