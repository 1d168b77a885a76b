import BSONStore
import TestProcesses
import Testing

@testable import StitchSync

/// If a lost answer were taken for a lost write, an app would meet conflicts with itself.
struct LostAnswerScenarios {
    private static let losses: [CuttingProxy.Loss] = [.answer, .answerAfter(20), .request]

    /// The word that a request is known by.
    static func list(_ name: String, _ inBulk: Bool) -> String {
        inBulk ? "nsInfo" : name
    }

    @Test(
        "a lost answer to any kind of write is settled without the handler",
        arguments: ServedWay.allCases, [false, true])
    func eachKind(over served: ServedWay, inBulk: Bool) async throws {
        for loss in Self.losses {
            let way = try await UnreliableWay(served, inBulk: inBulk)
            defer { way.close() }
            let (world, a, proxy) = (way.world, way.device, way.proxy)
            proxy.lose(loss, of: Self.list("documents", inBulk))
            try await a.insert(["_id": "k", "n": 1])
            try await way.settle()
            #expect(try world.remoteDocument("k") == ["_id": "k", "n": 1])
            proxy.lose(loss, of: Self.list("updates", inBulk))
            try await a.set("k", ["n": 2])
            try await way.settle()
            #expect(try world.remoteDocument("k") == ["_id": "k", "n": 2])
            #expect(try world.remoteVersion("k")?.version?.counter == 1)
            proxy.lose(loss, of: Self.list("updates", inBulk))
            try await a.items.replaceOne(["_id": "k"], ["_id": "k", "m": 1])
            try await way.settle()
            #expect(try world.remoteVersion("k")?.version?.counter == 2)
            proxy.lose(loss, of: Self.list("deletes", inBulk))
            try await a.delete("k")
            try await way.settle()
            #expect(try world.remoteDocument("k") == nil)
            #expect(proxy.lossCount == 4)
            #expect(!world.transcript().contains { $0.contains("conflict") })
            #expect(try await a.items.status() == SyncStatus())
        }
    }

    @Test(
        "a lost answer to a batch settles each of its writes", arguments: ServedWay.allCases,
        [false, true])
    func batch(over served: ServedWay, inBulk: Bool) async throws {
        let way = try await UnreliableWay(served, inBulk: inBulk)
        defer { way.close() }
        let ids = (0..<200).map { BSONValue.int32($0) }
        way.proxy.lose(.answer, of: Self.list("documents", inBulk))
        try await way.device.items.insertMany(ids.map { ["_id": $0, "n": 1] })
        try await way.settle()
        way.proxy.lose(.answer, of: Self.list("updates", inBulk))
        try await way.device.items.updateMany([:], ["$set": ["n": 2]])
        try await way.settle()
        for id in ids {
            #expect(try way.world.remoteDocument(id) == ["_id": id, "n": 2])
            #expect(try way.world.remoteVersion(id)?.version?.counter == 1)
        }
        #expect(way.proxy.lossCount == 2)
        #expect(!way.world.transcript().contains { $0.contains("conflict") })
    }
}
