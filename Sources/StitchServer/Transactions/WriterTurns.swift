internal import BSONStore

/// The turns of a store's writers (``WriterOrder``), for which threads wait.
final class WriterTurns: Sendable {
    /// The place of a writer.
    struct Place: Sendable {
        fileprivate let number: UInt64
        /// The owner of the writer; empty for the server itself.
        let owner: [UInt8]
    }

    private let order = ThreadCondition(WriterOrder())

    /// Makes the turns of a store without writers.
    init() {}

    /// Whether a writer waits for its turn.
    var hasWaiting: Bool { order.withLock { $0.hasWaiting } }

    /// Whether there is no writer.
    var isEmpty: Bool { order.withLock { $0.count == 0 } }

    /// Adds a waiting writer; ``leave(_:)`` removes it.
    func enter(_ owner: [UInt8], _ kind: WriterOrder.Kind) -> Place {
        Place(number: order.withLock { $0.enter(owner, kind) }, owner: owner)
    }

    /// Waits for a moment until it is a writer's turn.
    ///
    /// - Returns: whether the writer may write now, and keeps others from it where it has to.
    /// - Throws: the error that ends the thread's work.
    func begin(_ place: Place, within milliseconds: Int = 0) throws(StoreError) -> Bool {
        let limit = ContinuousClock.now + .milliseconds(milliseconds)
        return try order.wait { (order) throws(StoreError) in
            if order.begin(place.number) { return .done(true) }
            guard milliseconds > 0, ContinuousClock.now < limit else { return .done(false) }
            try WorkBudget.check()
            return .forSignalOr(milliseconds: milliseconds)
        }
    }

    /// Removes a writer that has written, or that does not wait any more.
    func leave(_ place: Place) { order.withLock(waking: .all) { $0.leave(place.number) } }
}
