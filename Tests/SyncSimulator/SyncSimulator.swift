import SyncSimulation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Runs simulated worlds of the sync engine: `SyncSimulator seeds=1000 from=1 jobs=2`, or `seed=7`.
@main struct SyncSimulator {
    static func main() async throws {
        var settings: [String: UInt64] = [:]
        for argument in CommandLine.arguments.dropFirst() {
            let parts = argument.split(separator: "=")
            if parts.count == 2 { settings[String(parts[0])] = UInt64(parts[1]) }
        }
        if let seed = settings["seed"] { exit(try await check(seed) ? 0 : 1) }
        let from = settings["from"] ?? 1
        let end = from + (settings["seeds"] ?? 2_000)
        let jobs = Int(settings["jobs"] ?? 2)
        let start = ContinuousClock.now
        let failuresMax = settings["max"] ?? 5
        let failed = try await withThrowingTaskGroup(of: [UInt64].self) { group in
            for job in 0..<jobs {
                let seeds = stride(from: from + UInt64(job), to: end, by: jobs)
                group.addTask { try await search(seeds, failuresMax: failuresMax) }
            }
            var failed: [UInt64] = []
            for try await found in group { failed += found }
            return failed
        }
        print("\(end - from) seeds in \(start.duration(to: .now)), \(failed.count) failed")
        guard let seed = failed.min() else { return }
        _ = try await check(seed)
        exit(1)
    }

    /// The seeds that violate something.
    private nonisolated static func search(
        _ seeds: StrideTo<UInt64>, failuresMax: UInt64
    ) async throws -> [UInt64] {
        var failed: [UInt64] = []
        for seed in seeds where failed.count < failuresMax {
            let outcome = try await Simulation(SimulationPlan(seed: seed)).run()
            guard let first = outcome.violations.first else { continue }
            print("seed \(seed): \(first)")
            failed.append(seed)
        }
        return failed
    }

    /// Runs one seed; where it violates something, prints the shortest schedule that does.
    private static func check(_ seed: UInt64) async throws -> Bool {
        let plan = SimulationPlan(seed: seed)
        let outcome = try await Simulation(plan).run(isTold: true)
        guard !outcome.violations.isEmpty else {
            print("seed \(seed) is clean; \(outcome.lines.count) lines")
            return true
        }
        print("seed \(seed) violates: \(outcome.violations.joined(separator: "; "))")
        let shrunk = try await Simulation(plan).shrunk()
        let again = try await Simulation(shrunk).run(isTold: true)
        print("with \(shrunk.steps.count) of \(plan.steps.count) steps:")
        print(again.lines.joined(separator: "\n"))
        print("violations: \(again.violations.joined(separator: "; "))")
        print("replay: make simulate SEED=\(seed)")
        return false
    }
}
