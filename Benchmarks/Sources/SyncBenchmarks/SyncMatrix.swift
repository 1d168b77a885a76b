import BSONStore
import Foundation
import StitchSync
import Synchronization

/// The matrix of performance tests: direction × kind of change × latency.
///
/// MongoDB Stitch's mobile sync was measured in this way. A quarter of the documents changes; if
/// both sides change, half of the remote's changes are conflicts.
struct SyncMatrix {
    enum Direction: String, CaseIterable {
        case up = "L2R"
        case down = "R2L"
        case mixed
    }

    enum Phase: String, CaseIterable { case initial, reconnect, pass }

    let settings: SyncSettings

    func run() async throws {
        print(
            "direction phase latency_ms documents documents/s requests commits up_B/doc down_B/doc")
        for latency in settings.latencies {
            for direction in Direction.allCases {
                for phase in Phase.allCases {
                    var settings = settings
                    settings.latencyMS = latency
                    try await Bench.run(settings) { bench in
                        await bench.items.configure(conflictHandler: .remoteWins)
                        try await Self.run(direction, phase, bench)
                    }
                }
            }
        }
    }

    private static func run(_ direction: Direction, _ phase: Phase, _ bench: Bench) async throws {
        let (remote, local) = split(direction, bench)
        try bench.fillRemote(remote)
        guard phase != .initial else {
            return try await measure(direction, phase, bench, documents: bench.ids.count) {
                if !local.isEmpty { try await bench.items.insertMany(local) }
                try await bench.items.sync(ids: remote.map { $0["_id"] ?? .null })
            }
        }
        if !local.isEmpty { try await bench.items.insertMany(local) }
        try await bench.items.sync(ids: remote.map { $0["_id"] ?? .null })
        try await bench.engine.syncUntilQuiet()
        guard phase != .reconnect else {
            bench.engine.setOnline(false)
            return try await measure(direction, phase, bench, documents: bench.ids.count) {
                bench.engine.setOnline(true)
            }
        }
        let changed = bench.ids.count / 4
        if direction != .up { try bench.changeRemote("r1", bench.ids.prefix(changed)) }
        if direction == .up {
            try await bench.changeLocal("mine!", bench.ids.prefix(changed))
        } else if direction == .mixed {
            try await bench.changeLocal("mine!", bench.ids.prefix(changed / 2))
            try await bench.changeLocal("mine!", bench.ids.suffix(changed / 2))
        }
        try await measure(direction, phase, bench, documents: changed) {}
    }

    /// Which documents begin at the remote, and which here.
    private static func split(
        _ direction: Direction, _ bench: Bench
    ) -> (remote: [BSONDocument], local: [BSONDocument]) {
        let documents = bench.documents()
        let half = documents.count / 2
        switch direction {
        case .up: return ([], documents)
        case .down: return (documents, [])
        case .mixed: return (Array(documents[..<half]), Array(documents[half...]))
        }
    }

    private static func measure(
        _ direction: Direction, _ phase: Phase, _ bench: Bench, documents: Int,
        _ prepare: () async throws -> Void
    ) async throws {
        _ = bench.slow.traffic.take()
        let commits = Mutex(0)
        let observation = bench.local.onCommit { commits.withLock { $0 += 1 } }
        defer { observation.cancel() }
        let start = ContinuousClock.now
        try await prepare()
        try await bench.engine.syncNow()
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        let counts = bench.slow.traffic.take()
        let share = Double(max(1, documents))
        print(
            direction.rawValue, phase.rawValue, bench.settings.latencyMS, documents,
            Int(share / seconds), counts.requests, commits.withLock { $0 },
            Int(Double(counts.sentBytes) / share), Int(Double(counts.receivedBytes) / share))
    }
}
