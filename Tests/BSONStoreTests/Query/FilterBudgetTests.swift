import Testing

@testable import BSONCore
@testable import BSONQuery

/// Without this a rule could show a hidden document to a user whose command runs out of time.
struct FilterBudgetTests {
    @Test(
        "a negated test that the budget cuts short passes nothing",
        arguments: [
            ["a": ["$not": ["$elemMatch": ["$gte": 7]]]], ["$nor": [["a": 7]]], ["a": ["$ne": 7]],
            ["a": ["$nin": [7, 8]]],
        ] as [BSONDocument])
    func negated(_ condition: BSONDocument) throws {
        let filter = try Filter(condition)
        let hidden: BSONDocument = ["a": [1, 2, 3, 4, 5, 6, 7]]
        let budget = WorkBudget(deadline: .now - .seconds(1))
        var shown = 0
        budget.running {
            for _ in 0..<2_000 where filter.matches(hidden) { shown += 1 }
        }
        #expect(shown == 0)
        #expect(!filter.matches(hidden))
    }
}
