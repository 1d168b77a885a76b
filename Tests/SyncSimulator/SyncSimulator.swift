import SyncSimulation
import Synchronization

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Runs simulated worlds of the sync engine: `seeds=1000 from=1 jobs=2 max=5 shrink=0`, or `seed=7`;
/// or every short schedule with every fault: `scope=3 faults=1 interrupts=1 jobs=2`, where one in so
/// many faults strikes; or worlds with files beside documents: `files=1000 from=1 jobs=2`.
@main struct SyncSimulator {
    static func main() async throws {
        var settings: [String: UInt64] = [:]
        for argument in CommandLine.arguments.dropFirst() {
            let parts = argument.split(separator: "=")
            if parts.count == 2 { settings[String(parts[0])] = UInt64(parts[1]) }
        }
        let isShrunk = settings["shrink"] != 0
        if let seed = settings["seed"] {
            exit(try await check(seed, isShrunk: isShrunk) ? 0 : 1)
        }
        if let depth = settings["scope"] {
            exit(try await searchScope(Int(depth), settings) ? 0 : 1)
        }
        if let count = settings["files"] {
            exit(try await searchFiles(count, settings) ? 0 : 1)
        }
        let from = settings["from"] ?? 1
        let end = from + (settings["seeds"] ?? 2_000)
        let jobs = Int(settings["jobs"] ?? 2)
        let start = ContinuousClock.now
        let failuresMax = settings["max"] ?? 5
        let failures = Failures(max: failuresMax)
        try await withThrowingTaskGroup { group in
            for job in 0..<jobs {
                let seeds = stride(from: from + UInt64(job), to: end, by: jobs)
                group.addTask { try await search(seeds, failures) }
            }
            try await group.waitForAll()
        }
        let failed = failures.seeds
        print("\(end - from) seeds in \(start.duration(to: .now)), \(failed.count) failed")
        guard let seed = failed.min() else { return }
        if isShrunk { _ = try await check(seed, isShrunk: true) }
        exit(1)
    }

    /// Runs all short schedules; whether none violates anything.
    private static func searchScope(
        _ depth: Int, _ settings: [String: UInt64]
    ) async throws -> Bool {
        let jobs = Int(settings["jobs"] ?? 2)
        let scope = SmallScope(
            depth: depth, faultStride: Int(settings["faults"] ?? 1),
            interruptStride: Int(settings["interrupts"] ?? 1))
        var isClean = true
        for start in ScopeStart.allCases {
            let begin = ContinuousClock.now
            let tally = try await withThrowingTaskGroup(of: SmallScope.Tally.self) { group in
                for job in 0..<jobs {
                    group.addTask { try await scope.search(start, share: job, of: jobs) }
                }
                var all = SmallScope.Tally()
                for try await tally in group { all.add(tally) }
                return all
            }
            print(
                "depth \(depth) from \(start.rawValue): \(tally.schedules) schedules, "
                    + "\(tally.runs) runs in \(begin.duration(to: .now)), "
                    + "\(tally.violations.count) violations")
            for violation in tally.violations.prefix(20) { print(violation) }
            if !tally.violations.isEmpty { isClean = false }
        }
        return isClean
    }

    /// Runs worlds with files; whether none violates anything.
    private static func searchFiles(
        _ count: UInt64, _ settings: [String: UInt64]
    ) async throws -> Bool {
        let (from, jobs) = (settings["from"] ?? 1, Int(settings["jobs"] ?? 2))
        let start = ContinuousClock.now
        let failures = Failures(max: settings["max"] ?? 5)
        try await withThrowingTaskGroup { group in
            for job in 0..<jobs {
                group.addTask {
                    for seed in stride(from: from + UInt64(job), to: from + count, by: jobs)
                    where !failures.suffice(before: seed) {
                        let outcome = try await FileSimulation(seed: seed).run()
                        guard !outcome.violations.isEmpty else { continue }
                        print("seed \(seed): \(outcome.violations.joined(separator: "; "))")
                        if count == 1 { print(outcome.lines.joined(separator: "\n")) }
                        failures.add(seed)
                    }
                }
            }
            try await group.waitForAll()
        }
        let failed = failures.seeds.count
        print("\(count) worlds with files in \(start.duration(to: .now)), \(failed) failed")
        return failed == 0
    }

    /// The seeds that violate something, found by all jobs.
    private final class Failures: Sendable {
        private let found = Mutex<[UInt64]>([])
        private let max: UInt64

        init(max: UInt64) { self.max = max }

        var seeds: [UInt64] { found.withLock { $0 } }

        func add(_ seed: UInt64) { found.withLock { $0.append(seed) } }

        /// Whether a seed need not be tried: enough lesser ones violate something.
        func suffice(before seed: UInt64) -> Bool {
            found.withLock { seeds in seeds.count { $0 < seed } >= max }
        }
    }

    /// Finds seeds that violate something, until there are enough.
    private nonisolated static func search(
        _ seeds: StrideTo<UInt64>, _ failures: Failures
    ) async throws {
        for seed in seeds where !failures.suffice(before: seed) {
            let outcome = try await Simulation(SimulationPlan(seed: seed)).run()
            guard let first = outcome.violations.first else { continue }
            print("seed \(seed): \(first)")
            failures.add(seed)
        }
    }

    /// Runs one seed; where it violates something, prints the shortest schedule that violates it in
    /// the same way, or all of its own.
    private static func check(_ seed: UInt64, isShrunk: Bool) async throws -> Bool {
        let plan = SimulationPlan(seed: seed)
        let outcome = try await Simulation(plan).run(isTold: true)
        guard !outcome.violations.isEmpty else {
            print("seed \(seed) is clean; \(outcome.lines.count) lines")
            return true
        }
        print("seed \(seed) violates: \(outcome.violations.joined(separator: "; "))")
        guard isShrunk else {
            print(outcome.lines.joined(separator: "\n"))
            return false
        }
        let shrunk = try await Simulation(plan).shrunk()
        let again = try await Simulation(shrunk).run(isTold: true)
        print("with \(shrunk.steps.count) of \(plan.steps.count) steps:")
        print(again.lines.joined(separator: "\n"))
        print("violations: \(again.violations.joined(separator: "; "))")
        print("replay: make simulate SEED=\(seed)")
        return false
    }
}
