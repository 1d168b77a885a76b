import BSONStore
import StitchSync
import StitchSyncTesting
import Testing

/// Without these an app's tests could pass although something is left to send.
@Suite struct TestWorldTests {
    private static let items = Namespace("app", "items")

    private static func world() async throws -> (world: TestWorld, devices: [TestDevice]) {
        let world = try TestWorld()
        var devices: [TestDevice] = []
        for name in ["phone", "tablet"] {
            devices.append(
                try await world.device(name) { engine in
                    await engine.collection(items).configure(conflictHandler: .mergeFields())
                })
        }
        return (world, devices)
    }

    @Test func `two devices come together`() async throws {
        let (world, devices) = try await Self.world()
        let (phone, tablet) = (devices[0], devices[1])
        try await phone.engine.collection(Self.items).insertOne(["_id": 1, "a": "phone"])
        try await tablet.engine.collection(Self.items).sync(ids: [1])
        try await world.settle()
        try await world.expectNothingPending()
        #expect(try tablet.engine.collection(Self.items).findOne(id: 1)?["a"] == "phone")
    }

    @Test func `what is not sent is named`() async throws {
        let (world, devices) = try await Self.world()
        try await devices[0].engine.collection(Self.items).insertOne(["_id": 1])
        let error = await #expect(throws: NotSettledError.self) {
            try await world.expectNothingPending()
        }
        #expect(try #require(error).lines == ["phone app.items 1: pending"])
    }

    @Test(arguments: [true, false])
    func `a killed device goes on where it was`(isBefore: Bool) async throws {
        let (world, devices) = try await Self.world()
        try await devices[0].engine.collection(Self.items).insertOne(["_id": 1])
        devices[0].killInNextPass(atCommit: 1, isBefore: isBefore)
        #expect(try await devices[0].sync() == nil)
        #expect(!devices[0].waitsForKill)
        try await world.settle()
        try await world.expectNothingPending()
        #expect(try world.remoteStore.collection(Self.items).find().count() == 1)
    }

    @Test func `an answer that is lost is found out about`() async throws {
        let (world, devices) = try await Self.world()
        try await devices[0].engine.collection(Self.items).insertOne(["_id": 1])
        devices[0].network.next(.write, .loseAnswer)
        let report = try await devices[0].sync()
        #expect(report?.reachedRemote == false)
        #expect(devices[0].network.waitingFaults == 0)
        try await world.settle()
        #expect(try world.remoteStore.collection(Self.items).find().count() == 1)
    }
}
