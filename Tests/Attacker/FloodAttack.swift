import BSONStore
import SyncSimulation
import TestProcesses

/// Floods a server in several ways at the same time, while an honest client writes.
struct FloodAttack {
    /// How many writes the honest client must get through while all that the flood opened is open.
    private static let writesMin = 20
    private static let kindsPerFlood = 4

    /// Whether each outcome is shown.
    let tells: Bool

    /// Floods one server once for each seed.
    func run(_ seeds: [UInt64]) async throws -> AttackTally {
        var tally = AttackTally(AttackPart.floods.rawValue)
        let server = try AttackedServer()
        defer { server.remove() }
        for seed in seeds {
            let outcome = try await attempt(seed, server)
            if tells, !outcome.isFailure { print(outcome) }
            tally.add(outcome, seed: seed)
            if outcome.isFailure { try server.restart() }
        }
        let resident = try await server.restingBytes()
        let outcome = server.end(
            "the end after \(seeds.count) floods", resident: resident)
        if tells { print(outcome) }
        tally.add(outcome, seed: seeds.last ?? 0)
        return tally
    }

    private func attempt(_ seed: UInt64, _ server: AttackedServer) async throws -> AttackOutcome {
        let kinds = Flood.Kind.allCases
        let start = Int(seed % UInt64(kinds.count)) * Self.kindsPerFlood
        let chosen = (0..<Self.kindsPerFlood).map { kinds[(start + $0) % kinds.count] }
        let port = server.port
        let honest = HonestClient(port: port, first: Int64(seed) * 1_000_000)
        async let account = BlockingThread.run { honest.write() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, kind) in chosen.enumerated() {
                group.addTask {
                    let flood = Flood(kind: kind, port: port, seed: seed, stream: UInt64(index))
                    try await BlockingThread.run {
                        let held = flood.run()
                        Self.wait(for: honest)
                        withExtendedLifetime(held) {}
                    }
                }
            }
            try await group.waitForAll()
        }
        honest.stop()
        let written = try await account
        server.ledger.note(written.ledger)
        var outcome = AttackOutcome(what: chosen.map(\.rawValue).joined(separator: " + "))
        outcome.output =
            "\(written.ledger.count) writes, \(written.refusals) refused, longest \(written.longest)"
        outcome.end = try await server.check()
        if !outcome.isFailure { outcome.end = written.end }
        if !outcome.isFailure, written.refusals > 0 { outcome.end = .refused }
        return outcome
    }

    /// Waits until the honest client wrote some more, or failed.
    private static func wait(for honest: HonestClient) {
        let wanted = honest.writtenCount + writesMin
        while honest.writtenCount < wanted, !honest.hasEnded { Flood.pause() }
    }
}
