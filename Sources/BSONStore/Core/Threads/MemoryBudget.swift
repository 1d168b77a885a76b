internal import Synchronization

/// A bound on the memory that the commands of a server hold together, and on each one's part of it.
///
/// Everything that a command collects counts: documents of a stage, of a sort or of a join, and
/// arrays while an operator builds them. A part takes its bytes with a ``MemoryHolding``.
package final class MemoryBudget: Sendable {
    /// The maximum of all commands together, in bytes.
    package let bytesMax: Int
    private let taken = Atomic<Int>(0)

    /// Creates a budget of which nothing is taken.
    package init(bytesMax: Int) { self.bytesMax = bytesMax }

    /// The maximum of one command in bytes, half of all.
    package var commandBytesMax: Int { bytesMax / 2 }

    /// The bytes that are taken now.
    package var bytes: Int { taken.load(ordering: .relaxed) }

    /// Takes bytes; returns `false`, without a change, when they would exceed the maximum.
    func take(_ count: Int) -> Bool {
        guard taken.add(count, ordering: .relaxed).newValue > bytesMax else { return true }
        give(count)
        return false
    }

    /// Takes back bytes that a command no longer holds.
    func give(_ count: Int) { taken.subtract(count, ordering: .relaxed) }
}
