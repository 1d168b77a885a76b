import Foundation
import SyncSimulation
import Testing

/// Without these a rule could be wrong in a way that shows only after an unlucky kill or lost answer.
struct SmallScopeTests {
    /// Schedules of two actions with some of the faults, each time others; `make simulate-scope`
    /// runs them all, and longer ones.
    @Test(
        "every short schedule with every single fault keeps the invariants",
        arguments: ScopeStart.allCases)
    func exhaustive(start: ScopeStart) async throws {
        let scope = SmallScope(depth: 2, faultStride: 17, interruptStride: 67)
        let tally = try await scope.search(start)
        #expect(tally.violations.isEmpty)
        #expect(tally.schedules > 10 && tally.runs > 50)
    }
}
