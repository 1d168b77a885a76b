import BSONStore
import StitchSyncTesting
import Testing

@testable import StitchSync

/// A second process, as an app's extension, may write what the first one syncs: 152 of Device Sync's
/// list, and its advice to hold edits in memory, which nobody needs here.
@Suite(.timeLimit(.minutes(30)))
struct ProcessScenarios {
    private static let items = Namespace("app", "items")

    private static func engine(
        _ directory: String, _ probe: EngineProbe = EngineProbe()
    ) throws -> SyncEngine {
        try SyncEngine(
            store: try DocumentStore(at: .file(directory + "/local.db")),
            remote: try InProcessRemote(at: .file(directory + "/remote.db")),
            limits: SyncLimits(), backoff: Backoff(), clock: ContinuousClock(), probe: probe,
            freshInstance: UInt64.random(in: 1...UInt64.max))
    }

    private static func remoteCount(_ engine: SyncEngine) throws -> Int {
        try #require(engine.remote as? InProcessRemote).store.collection(items).find().count()
    }

    @Test("what another process writes is sent by the one that syncs, while it runs")
    func writtenElsewhere() async throws {
        let directory = try ScratchDirectory()
        let place = directory.path("")
        let engine = try Self.engine(place)
        try await engine.collection(Self.items).insertOne(["_id": "first"])
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            try await engine.waitForUpload()
            await #expect(processExitsWith: .success) { [place = place as String] in
                let other = try Self.engine(place)
                let items = other.collection(Self.items)
                try await items.insertMany((0..<20).map { ["_id": .int32($0)] })
                try await items.updateOne(["_id": "first"], ["$set": ["n": 1]])
                do {
                    try await other.syncNow()
                    preconditionFailure("two engines sync one file")
                } catch let error as SyncError {
                    precondition(error.code == .storeInUse && error.isFatal)
                }
            }
            for try await status in engine.collection(Self.items).statusUpdates {
                let count = try Self.remoteCount(engine)
                if status == SyncStatus(synced: 21), count == 21 { break }
            }
            group.cancelAll()
            try await group.waitForAll()
        }
        let remote = try #require(engine.remote as? InProcessRemote).store
        #expect(try remote.collection(Self.items).findOne(id: "first")?["n"] == 1)
    }

    private struct HandlerError: Error {}

    /// What another engine on the file asks of the one that syncs it.
    enum Request: CaseIterable {
        case insert, sync, resume
        /// As `sync`, after the engine itself has asked for an id that the pass finds absent.
        case syncNext

        func make(_ items: SyncCollection<BSONDocument>) async throws {
            switch self {
            case .insert: try await items.insertOne(["_id": "late"])
            case .sync, .syncNext: try await items.sync(ids: ["late"])
            case .resume: #expect(try await items.resumeSync(of: "late"))
            }
        }
    }

    /// Seen once in a test run of a busy machine: the loop looked at what there is to do after its pass
    /// only, and took what had come meanwhile for done.
    @Test(
        "what another engine asks for while a pass ends, which found nothing, is for the next",
        arguments: Request.allCases)
    func askedForAsPassEnds(_ request: Request) async throws {
        let directory = try ScratchDirectory()
        let place = directory.path("")
        let other = Locked<SyncEngine?>(nil)
        let engine = try Self.engine(
            place,
            EngineProbe(passEnded: { report in
                guard report.isQuiet, let other = other.withLock({ $0.take() }) else { return }
                try await request.make(other.collection(Self.items))
            }))
        let items = engine.collection(Self.items)
        try await items.insertOne(["_id": "first"])
        if request != .insert {
            let remote = try #require(engine.remote as? InProcessRemote).store
            try await remote.collection(Self.items).insertOne(["_id": "late", "n": 1])
        }
        if request == .resume {
            await items.configure(conflictHandler: ConflictHandler { _ in throw HandlerError() })
            try await items.insertOne(["_id": "late", "n": 2])
        }
        // Later no news from the remote, its own neither, wakes the loop.
        try await engine.syncUntilQuiet()
        #expect(try await items.pausedIDs == (request == .resume ? ["late"] : []))
        await items.configure(conflictHandler: .remoteWins)
        if request == .syncNext { try await items.sync(ids: ["absent"]) }
        let second = try Self.engine(place)
        other.withLock { $0 = second }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            let synced = request == .syncNext ? 3 : 2
            for try await status in items.statusUpdates
            where status == SyncStatus(synced: synced) { break }
            group.cancelAll()
            try await group.waitForAll()
        }
        #expect(other.withLock { $0 } == nil)
        #expect(try Self.remoteCount(engine) == 2)
    }

    @Test("a process that lets go, or dies, hands over: another one sends what all have written")
    func handedOver() async throws {
        let directory = try ScratchDirectory()
        let place = directory.path("")
        let main = try Self.engine(place)
        try await main.collection(Self.items).insertOne(["_id": "main"])
        try await main.syncNow()
        try await main.collection(Self.items).insertOne(["_id": "queued"])
        // The main process sleeps and has let go; the extension sends for both.
        try await main.release()
        await #expect(processExitsWith: .success) { [place = place as String] in
            let other = try Self.engine(place)
            try await other.collection(Self.items).insertOne(["_id": "extension"])
            try await other.syncUntilQuiet()
            let count = try Self.remoteCount(other)
            precondition(count == 3)
            // It dies with the lease in its hands.
        }
        let report = try await main.syncUntilQuiet().report
        #expect(report.uploaded == 0 && report.errors.isEmpty)
        #expect(try await main.collection(Self.items).status() == SyncStatus(synced: 3))
        #expect(try await main.verify().isEmpty)
    }

    @Test("a removal waits for the engine that syncs the file as long as that gets on")
    func removalDuringDownload() async throws {
        let directory = try ScratchDirectory()
        let place = StoreLocation.file(directory.path("local.db"))
        let base = try InProcessRemote(at: .inMemory)
        try await base.store.collection(Self.items).insertMany(
            (0..<400).map { ["_id": .int32($0)] })
        let remote = ScriptedRemote(base)
        var limits = SyncLimits()
        limits.batchDocuments = 1
        let engine = try SyncEngine(
            store: try DocumentStore(at: place), remote: remote, limits: limits)
        let other = try SyncEngine(store: try DocumentStore(at: place), remote: remote)
        try await engine.collection(Self.items).subscribe(waitForSync: .never)
        let (begun, pages) = (Signal(), Locked((count: 0, commits: 0)))
        let store = other.store
        remote.before { call in
            guard call.kind == .query else { return }
            begun.notify()
            // The other engine takes notice of each page, so that it gets many turns.
            let (count, seen) = pages.withLock { pages in
                pages.count += 1
                return pages
            }
            if count > 1 { try await store.waitForCommit(after: seen) }
            pages.withLock { $0.commits = store.commitCount }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.run() }
            await begun.wait(after: 0)
            try await other.subscriptions.removeAll()
            group.cancelAll()
            try await group.waitForAll()
        }
        remote.before(nil)
        #expect(pages.withLock { $0.count } > 40)
        #expect(try other.subscriptions.state == .complete)
        #expect(try engine.collection(Self.items).find().count() == 0)
    }

    @Test("a removal ends where the engine that syncs the file does nothing, and says so")
    func removalBesideIdleEngine() async throws {
        let directory = try ScratchDirectory()
        let place = directory.path("")
        let engine = try Self.engine(place)
        try await engine.syncNow()
        let clock = ManualClock()
        let other = try SyncEngine(
            store: try DocumentStore(at: .file(directory.path("local.db"))),
            remote: try InProcessRemote(at: .inMemory), clock: clock)
        try await clock.advance(by: .milliseconds(100)) {
            let error = await #expect(throws: SyncError.self) {
                try await other.subscriptions.removeAll()
            }
            #expect(error?.code == .storeInUse)
            #expect(error?.message.contains("another engine has the right to sync") == true)
            #expect(error?.message.contains("no pass got on") == false)
        }
        #expect(try other.subscriptions.count == 0)
        try await engine.syncUntilQuiet()
    }

    @Test("many edits of few documents, in one call or in many, are one change for each")
    func grouped() async throws {
        let directory = try ScratchDirectory()
        let engine = try Self.engine(directory.path(""))
        let items = engine.collection(Self.items)
        let remote = try #require(engine.remote as? InProcessRemote).store
        try await items.insertMany((0..<3).map { ["_id": .int32($0), "text": ""] })
        try await engine.syncUntilQuiet()
        func changes() throws -> Int {
            try remote.read { transaction in
                try transaction.changes(after: 0, limit: 10_000).changes
                    .count { $0.kind.isOfDocument }
            }
        }
        let before = try changes()
        var writes: [BulkWrite] = [.insertOne(["_id": 9])]
        for step in 0..<60 {
            let change: BSONDocument = ["$set": ["text": .string("\(step)")]]
            writes.append(.updateOne(["_id": .int32(Int32(step % 3))], .document(change)))
        }
        writes.append(.updateOne(["_id": 9], ["$set": ["n": 1]]))
        try await items.bulkWrite(writes)
        for step in 0..<40 {
            try await items.updateOne(["_id": 0], ["$set": ["text": .string("typed \(step)")]])
        }
        #expect(try await engine.syncNow().uploaded == 4)
        #expect(try changes() == before + 4)
        let first = try remote.collection(Self.items).findOne(id: 0)
        #expect(first?["text"] == "typed 39")
        #expect(try remote.collection(Self.items).findOne(id: 9)?["n"] == 1)
    }
}
