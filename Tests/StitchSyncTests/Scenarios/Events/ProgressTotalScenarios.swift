import BSONStore
import Testing

@testable import StitchSync

/// A bar without an end, or that ends at half or twice its length, tells nobody how long it takes.
@Suite(.remotes, .timeLimit(.minutes(30)))
struct ProgressTotalScenarios {
    private static let count = 1_000

    /// An engine over a store in memory.
    private func engine(_ world: SyncWorld) async throws -> SyncEngine {
        let engine = try SyncEngine(
            store: try DocumentStore(at: .inMemory), remote: world.remote)
        await engine.collection(SyncWorld.namespace).configure(conflictHandler: .remoteWins)
        return engine
    }

    /// A world whose remote holds documents.
    private func filled() async throws -> SyncWorld {
        let world = try SyncWorld()
        let writer = try await engine(world)
        try await writer.collection(SyncWorld.namespace).insertMany(
            (0..<Self.count).map { ["_id": .int32(Int32($0)), "n": 1] })
        try await writer.syncUntilQuiet()
        return world
    }

    /// Runs a body and gives the progress at each of its requests, and in the end.
    private func samples(
        _ engine: SyncEngine, _ world: SyncWorld, failing: Locked<RemoteCall.Kind?> = Locked(nil),
        _ body: () async throws -> Void
    ) async throws -> [SyncProgress] {
        let samples = Locked<[SyncProgress]>([])
        let seen = Locked(0)
        world.remote.before { call in
            let progress = try await engine.progress()
            samples.withLock { $0.append(progress) }
            // The second request of the kind does not arrive.
            guard failing.withLock({ $0 }) == call.kind else { return }
            let number = seen.withLock { seen in
                seen += 1
                return seen
            }
            if number == 2 { throw RemoteError(.retryable, "down") }
        }
        try await body()
        world.remote.before(nil)
        let end = try await engine.progress()
        return samples.withLock { $0 } + [end]
    }

    private func expectDownloads(_ samples: [SyncProgress], known: Int = 0) {
        let told = samples.drop { $0.totalDownloads == known }
        #expect(
            told.allSatisfy { $0.totalDownloads == Self.count }, "\(told.map(\.totalDownloads))")
        #expect(samples.allSatisfy { $0.downloadedDocuments <= $0.totalDownloads })
        #expect(samples.last?.downloadedDocuments == Self.count)
        #expect(samples.last?.pendingDownloads == 0)
    }

    @Test("by their ids documents are counted once, of a total that is known before the first pass")
    func byIDs() async throws {
        let world = try await filled()
        let engine = try await engine(world)
        let items = engine.collection(SyncWorld.namespace)
        try await items.sync(ids: (0..<Self.count).map { .int32(Int32($0)) })
        #expect(try await engine.progress().totalDownloads == Self.count)
        let first = try await samples(engine, world, failing: Locked(.find)) {
            try await engine.syncNow()
        }
        #expect(first.allSatisfy { $0.totalDownloads == Self.count })
        #expect(first.last?.downloadedDocuments == 500)
        // Resumed, then repeated.
        for _ in 1...2 {
            expectDownloads(
                try await samples(engine, world) { try await engine.syncUntilQuiet() })
        }
        #expect(try items.find().count() == Self.count)
    }

    @Test("by a subscription documents are counted once, of a total that the first page has")
    func bySubscription() async throws {
        let world = try await filled()
        let engine = try await engine(world)
        let items = engine.collection(SyncWorld.namespace)
        try await items.subscribe(to: ["n": 1], named: "all", waitForSync: .never)
        let first = try await samples(engine, world, failing: Locked(.query)) {
            try await engine.syncNow()
        }
        let told = first.drop { $0.totalDownloads == 0 }
        #expect(told.count >= 2 && told.allSatisfy { $0.totalDownloads == Self.count })
        #expect(first.last?.downloadedDocuments == 500)
        for _ in 1...2 {
            expectDownloads(
                try await samples(engine, world) { try await engine.syncUntilQuiet() })
        }
        #expect(try items.find().count() == Self.count)
    }

    @Test("changes that others make are counted once each time")
    func changes() async throws {
        let world = try await filled()
        let engine = try await engine(world)
        let items = engine.collection(SyncWorld.namespace)
        try await items.subscribe(to: ["n": 1], named: "all", waitForSync: .never)
        try await engine.syncUntilQuiet()
        for id in 0..<3 as Range<Int32> { try world.foreign(.int32(id)) { $0["m"] = 1 } }
        try await engine.syncUntilQuiet()
        let progress = try await engine.progress()
        #expect(progress.downloadedDocuments == Self.count + 3)
        #expect(progress.totalDownloads == Self.count + 3)
    }

    @Test("uploads are counted once, also where the answer was lost")
    func uploading() async throws {
        let world = try SyncWorld()
        let engine = try await engine(world)
        let items = engine.collection(SyncWorld.namespace)
        try await items.insertMany((0..<Self.count).map { ["_id": .int32(Int32($0))] })
        #expect(try await engine.progress().totalUploads == Self.count)
        world.remote.lose(.write, number: 1, isAnswer: true)
        for round in 1...3 {
            let taken = try await samples(engine, world) {
                if round == 1 {
                    try await engine.syncNow()
                } else {
                    try await engine.syncUntilQuiet()
                }
            }
            #expect(
                taken.allSatisfy { $0.totalUploads == Self.count }, "\(taken.map(\.totalUploads))")
            #expect(taken.allSatisfy { $0.uploadedDocuments <= Self.count })
        }
        world.remote.after(nil)
        let progress = try await engine.progress()
        #expect(progress.uploadedDocuments == Self.count && progress.pendingUploads == 0)
        #expect(progress.downloadedDocuments == 0 && progress.totalDownloads == 0)
    }

    @Test("a conflict that waits for its handler is counted once, however many passes there are")
    func waitingConflict() async throws {
        let world = try SyncWorld()
        let engine = try SyncEngine(
            store: try DocumentStore(at: .inMemory), remote: world.remote)
        let items = engine.collection(SyncWorld.namespace)
        try await items.insertOne(["_id": 1, "x": 0])
        try await engine.syncUntilQuiet()
        try await items.updateOne(["_id": 1], ["$set": ["x": 1]])
        try world.foreign(1) { $0["x"] = 2 }
        for _ in 1...3 { try await engine.syncNow() }
        let progress = try await engine.progress()
        #expect(progress.downloadedDocuments == 1 && progress.totalDownloads == 1)
        await items.configure(conflictHandler: .remoteWins)
        try await engine.syncUntilQuiet()
        #expect(try await engine.progress().downloadedDocuments == 1)
        #expect(try items.findOne(id: 1)?["x"] == 2)
    }
}
