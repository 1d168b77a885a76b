internal import Synchronization

/// The part of a budget that one command has taken.
package final class MemoryShare: Sendable {
    private let budget: MemoryBudget
    private let taken = Atomic<Int>(0)

    /// Creates a share of which nothing is taken.
    package init(_ budget: MemoryBudget) { self.budget = budget }

    /// Takes bytes for a part of the command, such as a stage.
    ///
    /// - Throws: 292 when the command or all commands together would hold too much.
    func take(_ count: Int, for part: String) throws(StoreError) {
        let newValue = taken.add(count, ordering: .relaxed).newValue
        guard newValue <= budget.commandBytesMax else {
            taken.subtract(count, ordering: .relaxed)
            throw Self.exceeded(
                part,
                "one command may hold \(budget.commandBytesMax) bytes, half of the memory "
                    + "limit of all commands")
        }
        guard budget.take(count) else {
            taken.subtract(count, ordering: .relaxed)
            throw Self.exceeded(
                part,
                "all running commands together may hold \(budget.bytesMax) bytes; try again "
                    + "when others have ended")
        }
    }

    /// Returns bytes to the budget.
    func give(_ count: Int) {
        taken.subtract(count, ordering: .relaxed)
        budget.give(count)
    }

    private static func exceeded(_ part: String, _ limit: String) -> StoreError {
        StoreError(
            .queryExceededMemoryLimitNoDiskUseAllowed,
            "Exceeded memory limit for \(part): \(limit)")
    }
}
