import Foundation
import SyncSimulation
import Testing

/// Without these a rule could be wrong in a way that only several clients, faults and kills at once
/// bring to light.
struct SimulationTests {
    private static let seeds =
        ProcessInfo.processInfo.environment["SIMULATION_SEEDS"].flatMap { UInt64($0) } ?? 400

    /// Half of the seeds each, so that both run at once.
    @Test("worlds of clients keep the invariants, whatever fails", arguments: [0, 1] as [UInt64])
    func worlds(half: UInt64) async throws {
        for seed in stride(from: 1 + half, through: Self.seeds, by: 2) {
            try await check(seed)
        }
    }

    /// Seeds that once violated something.
    @Test(
        "what once went wrong goes well",
        arguments: [384, 474, 778, 106, 955, 3095, 10630, 15005, 22477] as [UInt64])
    func regressions(seed: UInt64) async throws { try await check(seed) }

    @Test("worlds with files beside documents keep what was attached, and nothing else")
    func files() async throws {
        for seed in 1...max(Self.seeds / 10, 1) {
            let outcome = try await FileSimulation(seed: seed).run()
            #expect(
                outcome.violations.isEmpty,
                "seed \(seed)\n\(outcome.lines.joined(separator: "\n"))")
        }
    }

    @Test("a seed runs twice alike")
    func deterministic() async throws {
        for seed in 1...40 as ClosedRange<UInt64> {
            let plan = SimulationPlan(seed: seed)
            let first = try await Simulation(plan).run(isTold: true)
            let second = try await Simulation(plan).run(isTold: true)
            #expect(first.lines == second.lines && first.digest == second.digest, "seed \(seed)")
            #expect(first.lines.count > plan.steps.count)
        }
    }

    private func check(_ seed: UInt64) async throws {
        let plan = SimulationPlan(seed: seed)
        let violations = try await Simulation(plan).run().violations
        guard !violations.isEmpty else { return }
        let shrunk = try await Simulation(plan).shrunk()
        let lines = try await Simulation(shrunk).run(isTold: true).lines
        Issue.record("seed \(seed): \(violations)\n\(lines.joined(separator: "\n"))")
    }
}
