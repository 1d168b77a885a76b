import BSONStore
import Testing

@testable import StitchSync

/// A lost history costs nothing that was written or asked for before it: 116 to 118 of the acceptance
/// list.
@Suite(.remotes)
struct SubscriptionGapScenarios {
    @Test("offline writes and sets are kept, in their order, however often recovering fails")
    func writesAndSets() async throws {
        let world = try SyncWorld()
        for number in 1...5 as ClosedRange<Int32> {
            try world.foreign(.int32(number)) { $0["n"] = .int32(number) }
        }
        let a = try await world.device("A")
        try await a.subscribe("s", to: ["n": ["$lte": 3]])
        try await a.settle()
        // Each write is legal by the set of its time only.
        try await a.insert(["_id": 10, "n": 1])
        try await a.set(2, ["m": 1])
        try await a.subscribe("s", to: ["n": 4])
        try await a.insert(["_id": 11, "n": 4])
        try await a.engine.subscriptions.update { _ in }
        let version = try await a.subscribe("s", to: ["n": 5])
        try await a.insert(["_id": 12, "n": 5])
        try world.foreign(20) { $0["n"] = 5 }
        try world.foreignDelete(1)
        _ = world.transcript()
        let down = RemoteError(.retryable, "down")
        let faults = Locked<[(RemoteCall.Kind, RemoteError)]>([
            (.changes, RemoteError(.historyLost, code: 286, "gone")), (.versions, down),
            (.write, down), (.query, down), (.query, down), (.token, down),
        ])
        world.remote.before { call in
            let fault = faults.withLock { faults in
                faults.first?.0 == call.kind ? faults.removeFirst().1 : nil
            }
            if let fault { throw fault }
        }
        for _ in 0..<10 {
            try await a.sync()
            try await a.start()
        }
        // All but the last were met; nobody asks for a token once there is one.
        #expect(faults.withLock { $0.map(\.0) } == [.token])
        world.remote.before(nil)
        try await a.settle()
        #expect(try await a.heldIDs == [5, 12, 20])
        for (id, n) in [(2, 2), (10, 1), (11, 4), (12, 5)] as [(Int32, Int32)] {
            #expect(try world.remoteDocument(.int32(id))?["n"] == .int32(n))
        }
        #expect(try world.remoteDocument(2)?["m"] == 1)
        #expect(try a.engine.subscriptions.state(of: version) == .complete)
        #expect(try a.engine.subscriptions.state(of: 1) == .superseded)
        #expect(try await a.items.rejectedWrites.all().isEmpty)
        let told = world.transcript().filter { $0.contains("delete") }
        #expect(told == ["A remote delete 1 settled"], "\(told)")
    }
}
