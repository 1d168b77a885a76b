import BSONStore
import TestProcesses
import Testing

@testable import StitchSync

/// Servers die, connections break in the middle of a message, requests come twice; what an app wrote
/// must arrive once, and nobody be asked about a conflict with oneself.
struct UnreliableWayScenarios {
    private static let ids = (0..<120).map { BSONValue.int32($0) }

    /// When a server is killed: before or after the first request of a kind.
    struct Kill: Sendable, CustomTestStringConvertible {
        let kind: RemoteCall.Kind
        let isBefore: Bool

        static let all = [RemoteCall.Kind.write, .changes, .find].flatMap { kind in
            [true, false].map { Kill(kind: kind, isBefore: $0) }
        }

        var testDescription: String { "\(isBefore ? "before" : "after") \(kind)" }
    }

    /// Both sides hold what the device wrote, in the version that so many changes make.
    private func expectInStep(_ way: UnreliableWay, n: Int32, version: Int64) async throws {
        #expect(try await way.device.items.status() == SyncStatus(synced: Self.ids.count))
        for id in Self.ids {
            #expect(try await way.device.local(id) == ["_id": id, "n": .int32(n)])
            #expect(try way.world.remoteDocument(id) == ["_id": id, "n": .int32(n)])
            #expect(try way.world.remoteVersion(id)?.version?.counter == version)
        }
        #expect(!way.world.transcript().contains { $0.contains("conflict") })
    }

    @Test(
        "a server that is killed in the middle of a pass loses nothing",
        arguments: ServedWay.allCases, Kill.all)
    func killed(over served: ServedWay, _ moment: Kill) async throws {
        try await passKilling(.server, moment, on: try await UnreliableWay(served))
    }

    #if MongoRemote
        @Test(
            "a gateway, or the database behind it, that is killed in a pass loses nothing",
            .timeLimit(.minutes(20)), arguments: KilledPart.allCases, Kill.all)
        func killedGateway(_ part: KilledPart, _ moment: Kill) async throws {
            for served in ServedWay.allCases {
                let world = try SyncWorld.$remoteKind.withValue(.gateway) { try SyncWorld() }
                try await passKilling(
                    part, moment, on: try await UnreliableWay(served, in: world))
            }
        }
    #endif

    /// Lets a device sync changes of both sides, during which a part is killed once.
    private func passKilling(
        _ part: KilledPart, _ moment: Kill, on way: UnreliableWay
    ) async throws {
        defer { way.close() }
        try await way.device.items.insertMany(Self.ids.map { ["_id": $0, "n": 1] })
        try await way.settle()
        let kills = Locked(0)
        let kill: ScriptedRemote.Script = { call in
            guard call.kind == moment.kind, kills.withLock({ $0 }) == 0 else { return }
            kills.withLock { $0 += 1 }
            try way.kill(part)
        }
        if moment.isBefore { way.scripts.before(kill) } else { way.scripts.after(kill) }
        try way.world.foreign(0) { $0["n"] = 2 }
        try await way.device.items.updateMany([:], ["$set": ["n": 2]])
        try await way.settle()
        // The script speaks of its own remote's engine.
        way.scripts.before(nil)
        way.scripts.after(nil)
        #expect(kills.withLock { $0 } == 1)
        for id in Self.ids {
            #expect(try way.world.remoteDocument(id) == ["_id": id, "n": 2])
            #expect(try await way.device.local(id) == ["_id": id, "n": 2])
        }
        #expect(try await way.device.items.status() == SyncStatus(synced: Self.ids.count))
        #expect(!way.world.transcript().contains { $0.contains("conflict") })
    }

    @Test(
        "an answer that a killed server gave nobody is settled by the next one",
        arguments: ServedWay.allCases, [false, true])
    func answerLostByKill(over served: ServedWay, inBulk: Bool) async throws {
        let way = try await UnreliableWay(served, inBulk: inBulk)
        defer { way.close() }
        way.proxy.lose(.answer, of: LostAnswerScenarios.list("documents", inBulk))
        way.scripts.before { call in
            // The cut connection tells of the loss; then the server dies, too.
            guard call.kind == .find else { return }
            way.scripts.before(nil)
            try way.kill()
        }
        try await way.device.items.insertMany(Self.ids.map { ["_id": $0, "n": 1] })
        try await way.settle()
        #expect(way.proxy.lossCount == 1)
        try await expectInStep(way, n: 1, version: 0)
    }

    @Test(
        "a server that was restarted between two passes is no news",
        arguments: ServedWay.allCases)
    func restartedServer(over served: ServedWay) async throws {
        let way = try await UnreliableWay(served, repeats: true)
        defer { way.close() }
        let heard = Locked<[String]>([])
        way.device.engine.addErrorListener { error in heard.withLock { $0.append("\(error)") } }
        try await way.device.insert(["_id": 1])
        try await way.device.engine.syncUntilQuiet()
        try way.kill()
        try await way.device.set(1, ["x": 1])
        try await way.device.engine.syncUntilQuiet()
        await way.device.engine.flushEvents()
        #expect(heard.withLock { $0 } == [])
        #expect(try way.world.remoteDocument(1) == ["_id": 1, "x": 1])
    }

    @Test(
        "a request that comes twice is carried out once", arguments: ServedWay.allCases,
        [false, true])
    func repeated(over served: ServedWay, inBulk: Bool) async throws {
        let way = try await UnreliableWay(served, inBulk: inBulk)
        defer { way.close() }
        way.proxy.lose(.repeated, of: LostAnswerScenarios.list("documents", inBulk))
        try await way.device.items.insertMany(Self.ids.map { ["_id": $0, "n": 1] })
        try await way.settle()
        way.proxy.lose(.repeated, of: LostAnswerScenarios.list("updates", inBulk))
        try await way.device.items.updateMany([:], ["$set": ["n": 2]])
        try await way.settle()
        #expect(way.proxy.lossCount == 2)
        try await expectInStep(way, n: 2, version: 1)
        way.proxy.lose(.repeated, of: LostAnswerScenarios.list("deletes", inBulk))
        try await way.device.items.deleteMany([:])
        try await way.settle()
        #expect(try way.world.remoteDocuments.count([:]) == 0)
        #expect(!way.world.transcript().contains { $0.contains("conflict") })
    }

    @Test("answers that come late change nothing but the time", arguments: ServedWay.allCases)
    func delayed(over served: ServedWay) async throws {
        let way = try await UnreliableWay(served)
        defer { way.close() }
        way.proxy.delayAnswers(milliseconds: 20)
        try await way.device.items.insertMany(Self.ids.map { ["_id": $0, "n": 1] })
        try await way.settle()
        try await way.device.items.updateMany([:], ["$set": ["n": 2]])
        try await way.settle()
        try await expectInStep(way, n: 2, version: 1)
    }

    @Test(
        "two devices end in step over connections that break behind any byte",
        arguments: ServedWay.allCases, [UInt64(1), 2, 3, 4])
    func cutAnywhere(over served: ServedWay, seed: UInt64) async throws {
        var dice = Dice(seed: seed)
        let world = try UnreliableWay.world(served)
        let ways = [
            try await UnreliableWay(served, "A", in: world),
            try await UnreliableWay(served, "B", in: world),
        ]
        defer { for way in ways { way.close() } }
        var expected: [BSONValue: BSONDocument] = [:]
        let all = ways.flatMap { way in
            (0..<6).map { BSONValue.string("\(way.device.name)\($0)") }
        }
        for way in ways { try await way.device.items.sync(ids: all) }
        for round in 0..<25 as Range<Int32> {
            let way = ways[dice.below(2)]
            let id = BSONValue.string("\(way.device.name)\(dice.below(6))")
            if expected[id] != nil, dice.below(4) == 0 {
                try await way.device.delete(id)
                expected[id] = nil
            } else {
                let document: BSONDocument = [
                    "_id": id, "round": .int32(round), "text": SyncWorld.bytes(300),
                ]
                if expected[id] == nil {
                    try await way.device.insert(document)
                } else {
                    try await way.device.set(id, ["round": .int32(round)])
                }
                expected[id] = document
            }
            if dice.below(3) > 0 { way.proxy.cut(afterBytes: dice.below(6_000)) }
            try await way.device.sync()
        }
        for way in ways { try await way.settle(passesMax: 40) }
        // Who sees a document deleted keeps its id in step no longer.
        for way in ways { try await way.device.items.sync(ids: all) }
        for way in ways { try await way.settle(passesMax: 40) }
        for id in all {
            #expect(try world.remoteDocument(id) == expected[id])
            for way in ways {
                let local = try await way.device.local(id)
                #expect(local == expected[id], "\(id) at \(way.device.name)")
            }
        }
        #expect(ways.contains { $0.proxy.lossCount > 0 })
        #expect(!world.transcript().contains { $0.contains("conflict") })
    }
}

/// A remote that is let go, or whose caller goes, must leave neither threads nor connections behind.
struct RemoteShutdownScenarios {
    @Test(
        "a call whose server does not answer ends when it is cancelled",
        .timeLimit(.minutes(30)), arguments: ServedWay.allCases)
    func cancelled(over served: ServedWay) async throws {
        let way = try await UnreliableWay(served)
        defer { way.close() }
        let collection = way.scripts.base.collection(SyncWorld.namespace)
        _ = try await collection.find(ids: ["k"])
        // Longer than the test may take: who waits for the answer fails.
        way.proxy.delayAnswers(milliseconds: 1_000_000)
        await withThrowingTaskGroup { group in
            group.addTask { try await collection.find(ids: ["k"]) }
            group.cancelAll()
            await #expect(throws: RemoteError.self) { try await group.waitForAll() }
        }
    }

    @Test(
        "a closed remote has no connections, and takes no calls", .timeLimit(.minutes(30)),
        arguments: ServedWay.allCases)
    func closed(over served: ServedWay) async throws {
        let world = try UnreliableWay.world(served)
        let proxy = try CuttingProxy(to: try #require(world.server).port)
        defer { proxy.close() }
        try await useAndClose(served, proxy.port)
        await proxy.waitUntilIdle()
    }

    private func useAndClose(_ served: ServedWay, _ port: Int) async throws {
        var address = ServedAddress(port: port)
        address.isOnly = true
        let remote = try served.remote(to: address)
        let names = ["a", "b", "c"].map { Namespace(SyncWorld.database, $0) }
        try await withThrowingTaskGroup { group in
            for name in names {
                group.addTask {
                    let collection = remote.collection(name)
                    let token = try await collection.currentToken()
                    _ = try await collection.changes(
                        after: token, limit: 1, waitingUpTo: .milliseconds(10))
                    _ = try await collection.find(ids: [1])
                }
            }
            try await group.waitForAll()
        }
        await remote.close()
        let error = await #expect(throws: RemoteError.self) {
            try await remote.collection(names[0]).find(ids: [1])
        }
        #expect(error?.errorClass == .retryable)
    }
}
