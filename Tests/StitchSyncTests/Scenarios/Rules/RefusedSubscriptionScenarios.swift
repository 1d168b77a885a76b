import BSONStore
import Testing

@testable import StitchSync

/// What a server refuses one subscription holds back nothing else of a user under rules.
@Suite(.remotes, .timeLimit(.minutes(20)))
struct RefusedSubscriptionScenarios {
    private static let others = Namespace("shop", "others")

    /// The collections that a subscription cannot read.
    enum Unreadable: CaseIterable, Sendable {
        /// One with documents, in a database for which the user has no role.
        case ofOtherDatabase
        /// One of a database that does not exist.
        case mistyped
        /// One that is a view of documents that the user may read.
        case view

        var namespace: Namespace {
            switch self {
            case .ofOtherDatabase: Namespace("vault", "items")
            case .mistyped: Namespace("shopp", "items")
            case .view: Namespace("shop", "view")
            }
        }
    }

    @Test(
        "a subscription that a server refuses holds back no write and no other subscription",
        arguments: Unreadable.allCases, [false, true])
    func refused(_ unreadable: Unreadable, whileRunning isRunning: Bool) async throws {
        // A store in memory knows no database roles; its views have a scenario of their own.
        guard SyncWorld.remoteKind != .inProcess else { return }
        let world = try RuledWorld(RuledWorld.everybody)
        for id in 1...3 as ClosedRange<Int32> { try world.foreign(.int32(id), ["n": .int32(id)]) }
        try await world.stored.write { transaction in
            for id in ["x", "y"] as [BSONValue] {
                try transaction.put(Self.others, ["_id": id])
                try transaction.put(Unreadable.ofOtherDatabase.namespace, ["_id": id])
            }
        }
        try world.stored.createCollection(
            Unreadable.view.namespace, ["viewOn": "items", "pipeline": []])
        let store = try DocumentStore(at: .inMemory)
        let engine = try await world.engine(store)
        try await Self.running(isRunning, engine) {
            try await engine.items.subscribe(to: ["n": ["$lte": 2]], named: "items")
            let error = await #expect(throws: SyncError.self) {
                try await engine.collection(unreadable.namespace).subscribe(named: "refused")
            }
            let codes: [SyncError.Code?] = [.subscriptionFailed, .notAuthorized]
            #expect(codes.contains(error?.code), "\(error?.message ?? "")")
            let isError = if case .error = try engine.subscriptions.state { true } else { false }
            #expect(isError)
            // Uploads go on.
            try await engine.items.insertOne(["_id": 9, "n": 1])
            try await engine.collection(Self.others).insertOne(["_id": "z"])
            try await engine.waitForUpload()
            #expect(try world.document(9) == ["_id": 9, "n": 1])
            // The other subscription follows the remote.
            try world.foreign(1, ["m": 1])
            await #expect(throws: SyncError.self) { try await engine.waitForDownload() }
            while try engine.items.findOne(id: 1)?["m"] != 1 { try await engine.syncNow() }
        }
        await engine.close()
        // After a restart, too.
        let next = try await world.engine(store)
        try await Self.running(isRunning, next) {
            try await next.collection(Self.others).subscribe(named: "others")
            #expect(try next.collection(Self.others).find().count() == 3)
            try await next.subscriptions.remove(named: "items")
            #expect(try next.items.find().count() == 0)
            try await next.subscriptions.remove(named: "refused")
            #expect(try next.subscriptions.state == .complete)
            #expect(try next.collection(Self.others).find().count() == 3)
        }
        #expect(try await next.syncNow().errors == [])
        #expect(try await next.verify() == [])
        await next.close()
    }

    /// Runs a body, while the engine runs if wanted.
    private static func running(
        _ isRunning: Bool, _ engine: SyncEngine, _ body: @Sendable () async throws -> Void
    ) async throws {
        guard isRunning else { return try await body() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            defer { group.cancelAll() }
            try await body()
        }
    }
}
