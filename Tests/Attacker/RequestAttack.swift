import BSONStore
import SyncSimulation
import TestProcesses

/// Asks a server for much, and looks whether it answers, lives, ends in order and holds what it said.
struct RequestAttack {
    /// How many seeds one server serves before it is ended and looked at.
    private static let seedsPerServer = 200

    /// Whether each outcome is shown.
    let tells: Bool

    /// Attempts each seed.
    func run(_ seeds: [UInt64]) async throws -> AttackTally {
        try ExpensiveRequest.checkParts()
        var tally = AttackTally(AttackPart.requests.rawValue)
        for start in stride(from: 0, to: seeds.count, by: Self.seedsPerServer) {
            let end = min(start + Self.seedsPerServer, seeds.count)
            try await serve(seeds[start..<end], &tally)
        }
        return tally
    }

    private func serve(_ seeds: ArraySlice<UInt64>, _ tally: inout AttackTally) async throws {
        let server = try AttackedServer()
        defer { server.remove() }
        try await AttackedCollections.fill(server)
        try await AttackedCollections.openCursors(server)
        for seed in seeds {
            let outcome = try await attempt(seed, server)
            if tells, !outcome.isFailure { print(outcome) }
            tally.add(outcome, seed: seed)
            if outcome.isFailure { try server.restart() }
        }
        let last = seeds.last ?? 0
        let resident = try await server.restingBytes()
        let endless = try await busy(server, seed: last)
        let outcome = server.end("the end after \(seeds.count) seeds", resident: resident)
        withExtendedLifetime(endless) {}
        if tells { print(outcome) }
        tally.add(outcome, seed: last)
    }

    /// Sends some requests at the same time, and a write that is acknowledged.
    private func attempt(_ seed: UInt64, _ server: AttackedServer) async throws -> AttackOutcome {
        var random = SimulationRandom(seed: seed)
        let count = Int.random(in: 1...3, using: &random)
        let requests = try (0..<count).map { _ in try ExpensiveRequest.draw(&random) }
        let port = server.port
        let kept: BSONDocument = ["_id": .int64(Int64(seed)), "text": .string("kept \(seed)")]
        let (told, isKept) = try await BlockingThread.run {
            let clients = requests.map { request in
                let client = WireClient(port: port)
                client?.send(WireClient.message(request.command))
                return client
            }
            let write = WireLedger.insert([kept], in: "kept")
            let answer = WireClient(port: port)?.run(write, within: AttackedServer.patience)
            let told = clients.map { Self.told($0?.answer(within: AttackedServer.patience)) }
            return (told + [Self.told(answer)], Self.isWritten(answer))
        }
        if isKept { server.ledger.note([kept], in: "kept") }
        var outcome = AttackOutcome(what: requests.map(\.name).joined(separator: " + "))
        outcome.output = told.map(\.words).joined(separator: "\n")
        outcome.end = try await server.check()
        if told.contains(where: \.isSilent) { outcome.end = .hang }
        if !isKept, !outcome.isFailure {
            outcome.excesses = ["a write beside was not acknowledged"]
        }
        if !outcome.isFailure, told.contains(where: { !$0.isOK }) { outcome.end = .refused }
        return outcome
    }

    /// Requests without a time limit that are under way when the server is to end.
    private func busy(_ server: AttackedServer, seed: UInt64) async throws -> [WireClient] {
        var random = SimulationRandom(seed: seed, stream: 2)
        var clients: [WireClient] = []
        for _ in 0..<3 {
            let request = try ExpensiveRequest.endless(&random)
            guard let client = WireClient(port: server.port) else { continue }
            client.send(WireClient.message(request.command))
            clients.append(client)
        }
        _ = try await server.check()
        return clients
    }

    private struct Told: Sendable {
        var isOK = false
        var isSilent = false
        var words: String
    }

    private static func told(_ answer: WireClient.Answer?) -> Told {
        switch answer {
        case .reply(let reply):
            Told(isOK: reply["ok"] == 1.0, words: String(reply.extendedJSON(.relaxed).prefix(200)))
        case .closed, nil: Told(words: "closed")
        case .silent: Told(isSilent: true, words: "silent")
        }
    }

    /// Whether a write of one document is acknowledged.
    static func isWritten(_ answer: WireClient.Answer?) -> Bool {
        guard case .reply(let reply) = answer else { return false }
        return reply["ok"] == 1.0 && reply["n"] == 1 && reply["writeErrors"] == nil
            && reply["writeConcernError"] == nil
    }
}
