/// Knows who waits to write, in the order in which they came.
///
/// A transaction of several commands may begin to write once nobody is left who came before it: who
/// opens one such transaction after the other cannot keep others out.
package final class WriterQueue: Sendable {
    private struct State: Sendable {
        var last: UInt64 = 0
        var waiting: Set<UInt64> = []
    }

    private let state = Locked(State())
    private let condition = ThreadCondition()

    /// Makes an empty queue.
    package init() {}

    /// Whether nobody waits.
    package var isEmpty: Bool { state.withLock { $0.waiting.isEmpty } }

    /// Takes a place behind all others, which is given back by ``leave(_:)``.
    package func enter() -> UInt64 {
        state.withLock { state in
            state.last += 1
            state.waiting.insert(state.last)
            return state.last
        }
    }

    /// Returns a place back, once its owner writes, has written, or gives up.
    package func leave(_ place: UInt64) {
        condition.lock()
        state.withLock { _ = $0.waiting.remove(place) }
        condition.broadcast()
        condition.unlock()
    }

    /// Waits until nobody is before a place.
    ///
    /// - Returns: false when the time was over before.
    /// - Throws: what ends the thread's work.
    package func waitForTurn(
        _ place: UInt64, milliseconds: Int
    ) throws(StoreError) -> Bool {
        let limit = ContinuousClock.now + .milliseconds(milliseconds)
        condition.lock()
        defer { condition.unlock() }
        while state.withLock({ state in state.waiting.contains { $0 < place } }) {
            guard ContinuousClock.now < limit else { return false }
            try WorkBudget.check()
            condition.wait(milliseconds: 10)
        }
        return true
    }
}
