import BSONStore
import Testing

@testable import StitchSync

/// Progress that falls, or that ends before all is there, misleads who shows it: 133, 134 and 136 of
/// the acceptance list.
@Suite(.remotes, .timeLimit(.minutes(30)))
struct ProgressScenarios {
    private static var smallPages: SyncLimits {
        var limits = SyncLimits()
        limits.batchDocuments = 2
        return limits
    }

    /// What an engine had carried at each request, and which documents were there to see.
    private struct Sample: Sendable {
        let progress: SyncProgress
        let heldCount: Int
    }

    /// Runs a body and gives what was carried at each of its requests, and in the end.
    private func samples(
        _ engine: SyncEngine, _ world: SyncWorld, _ body: () async throws -> Void
    ) async throws -> [Sample] {
        let items = engine.collection(SyncWorld.namespace)
        let samples = Locked<[Sample]>([])
        @Sendable func take() async throws {
            let sample = try await Sample(
                progress: engine.progress(), heldCount: items.find().count())
            samples.withLock { $0.append(sample) }
        }
        world.remote.before { _ in try await take() }
        world.remote.after { _ in try await take() }
        try await body()
        world.remote.before(nil)
        world.remote.after(nil)
        try await take()
        return samples.withLock { $0 }
    }

    private func expectNoFall(_ samples: [Sample]) {
        for (one, next) in zip(samples, samples.dropFirst()) {
            let (one, next) = (one.progress, next.progress)
            #expect(one.downloadedDocuments <= next.downloadedDocuments)
            #expect(one.downloadedBytes <= next.downloadedBytes)
            #expect(one.uploadedDocuments <= next.uploadedDocuments)
            #expect(one.uploadedBytes <= next.uploadedBytes)
        }
    }

    @Test("downloading grows page by page before a set's documents are seen, and in each round")
    func downloading() async throws {
        let world = try SyncWorld()
        for number in 1...7 as ClosedRange<Int32> {
            try world.foreign(.int32(number)) { $0["n"] = 1 }
        }
        let engine = try SyncEngine(
            store: try DocumentStore(at: .inMemory), remote: world.remote,
            limits: Self.smallPages)
        let items = engine.collection(SyncWorld.namespace)
        await items.configure(conflictHandler: .remoteWins)
        let first = try await samples(engine, world) {
            try await items.subscribe(to: ["n": 1], named: "one")
        }
        expectNoFall(first)
        let unseen = Set(first.filter { $0.heldCount == 0 }.map(\.progress.downloadedDocuments))
        #expect(unseen.count >= 4, "\(unseen)")
        let end = try #require(first.last)
        #expect(end.heldCount == 7 && end.progress.pendingDownloads == 0)
        #expect(end.progress.downloadedDocuments >= 7 && end.progress.downloadedBytes > 0)
        for number in 1...3 as ClosedRange<Int32> {
            try world.foreign(.int32(number)) { $0["m"] = 1 }
        }
        let second = try await samples(engine, world) { try await engine.waitForDownload() }
        expectNoFall([end] + second)
        let grown = try #require(second.last).progress
        #expect(grown.downloadedDocuments >= end.progress.downloadedDocuments + 3)
        #expect(grown.pendingDownloads == 0)
    }

    @Test("uploading grows batch by batch until nothing waits, and again in the next round")
    func uploading() async throws {
        let world = try SyncWorld()
        // One request after the other, so that nothing happens while a sample is taken.
        let engine = try SyncEngine(
            store: try DocumentStore(at: .inMemory), remote: world.remote,
            limits: Self.smallPages, backoff: Backoff(), clock: ContinuousClock(),
            probe: EngineProbe(answerArriving: { _ in 0 }), freshInstance: 1)
        let items = engine.collection(SyncWorld.namespace)
        await items.configure(conflictHandler: .remoteWins)
        var uploaded = 0
        for (round, count) in [21, 13].enumerated() {
            try await items.insertMany(
                (0..<count).map { ["_id": .int32(Int32(round * 100 + $0))] })
            #expect(try await engine.progress().pendingUploads == count)
            let taken = try await samples(engine, world) { try await engine.waitForUpload() }
            expectNoFall(taken)
            let steps = Set(taken.map(\.progress.uploadedDocuments))
            #expect(steps.count > 2, "\(steps)")
            // What waits and what was sent is the whole, at each point between two requests.
            for sample in taken.map(\.progress) {
                #expect(sample.pendingUploads + sample.uploadedDocuments >= uploaded + count)
            }
            uploaded += count
            let end = try #require(taken.last).progress
            #expect(end.uploadedDocuments == uploaded && end.pendingUploads == 0)
        }
    }

    @Test("who follows the progress hears of each round until nothing waits")
    func following() async throws {
        let world = try SyncWorld()
        let engine = try SyncEngine(
            store: try DocumentStore(at: .inMemory), remote: world.remote)
        let items = engine.collection(SyncWorld.namespace)
        await items.configure(conflictHandler: .remoteWins)
        var heard: [SyncProgress] = []
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            for round in 1...2 {
                try await items.insertMany(
                    (0..<4).map { ["_id": .int32(Int32(round * 10 + $0))] })
                for try await progress in engine.progressUpdates {
                    heard.append(progress)
                    if progress.uploadedDocuments == round * 4, progress.pendingUploads == 0 {
                        break
                    }
                }
            }
            group.cancelAll()
        }
        expectNoFall(heard.map { Sample(progress: $0, heldCount: 0) })
        #expect(heard.last?.uploadedDocuments == 8)
    }
}
