/// The waiting writers, in order of arrival.
///
/// A transaction of several commands may begin to write once all earlier writers are done: a client
/// that opens one such transaction after the other cannot starve others.
package final class WriterQueue: Sendable {
    private struct State: Sendable {
        var last: UInt64 = 0
        var waiting: Set<UInt64> = []
    }

    private let state = ThreadCondition(State())

    /// Makes an empty queue.
    package init() {}

    /// Whether no writer waits.
    package var isEmpty: Bool { state.withLock { $0.waiting.isEmpty } }

    /// Joins the queue at its end; ``leave(_:)`` ends the membership.
    package func enter() -> UInt64 {
        state.withLock { state in
            state.last += 1
            state.waiting.insert(state.last)
            return state.last
        }
    }

    /// Leaves the queue, once the writer writes, has written, or stops waiting.
    package func leave(_ place: UInt64) {
        state.withLock(waking: .all) { _ = $0.waiting.remove(place) }
    }

    /// Waits until no earlier writer is left.
    ///
    /// - Returns: false when the time expired first.
    /// - Throws: the error that ends the thread's work.
    package func waitForTurn(
        _ place: UInt64, milliseconds: Int
    ) throws(StoreError) -> Bool {
        let limit = ContinuousClock.now + .milliseconds(milliseconds)
        return try state.wait { (state) throws(StoreError) in
            guard state.waiting.contains(where: { $0 < place }) else { return .done(true) }
            guard ContinuousClock.now < limit else { return .done(false) }
            try WorkBudget.check()
            return .forSignalOr(milliseconds: 10)
        }
    }
}
