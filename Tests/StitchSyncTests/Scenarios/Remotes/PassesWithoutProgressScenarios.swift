import BSONStore
import Testing

@testable import StitchSync

/// Whatever a remote answers, an engine that makes no progress sends requests less and less often.
struct PassesWithoutProgressScenarios {
    private static let items = Namespace("shop", "items")

    /// What a remote always answers to writes.
    enum Refusal: CaseIterable, Sendable {
        case notMatched, duplicateKey

        var outcome: RemoteWriteOutcome {
            switch self {
            case .notMatched: .notMatched
            case .duplicateKey: .duplicateKey
            }
        }
    }

    /// How a remote tells a history that leads nowhere.
    enum History: CaseIterable, Sendable {
        /// There is always more, at another place each time.
        case moreForEver
        /// The same change is told again and again, at the same place.
        case unchangedPlace
        /// A change that concerns nobody is told at once, at another place each time.
        case everNewPlace
        /// There is no change, which is said at once, at another place each time.
        case nothingAtOnce
    }

    private static func engine(_ twisted: TwistedRemote) throws -> SyncEngine {
        try SyncEngine(
            store: try DocumentStore(at: .inMemory), remote: twisted,
            backoff: Backoff(initial: .seconds(600), cap: .seconds(600)))
    }

    @Test("writes that are never taken in are not sent again at once", arguments: Refusal.allCases)
    func refuses(_ refusal: Refusal) async throws {
        let count = Locked(0)
        var remote = TwistedRemote(base: try InProcessRemote(at: .inMemory))
        remote.writeOutcome = { _ in
            count.withLock { $0 += 1 }
            return refusal.outcome
        }
        let engine = try Self.engine(remote)
        let items = engine.collection(Self.items)
        try await items.insertOne(["_id": 1])
        switch refusal {
        case .notMatched:
            let error = await #expect(throws: SyncError.self) {
                try await items.waitForUpload(timeout: .milliseconds(500))
            }
            #expect(error?.code == .timedOut)
        case .duplicateKey:
            // No fetch finds the document with the id, so it pauses.
            for _ in 1...4 { try await engine.syncNow() }
            #expect(try await items.status(of: 1).pauseReason?.code == .rejected)
        }
        await #expect(throws: TimeoutError.self) {
            try await withTimeout(.milliseconds(500), clock: ContinuousClock()) {
                try await engine.run()
            }
        }
        #expect(count.withLock { $0 } <= 20)
        #expect(try items.findOne(id: 1) == ["_id": 1])
    }

    @Test("an answer that was lost before a long history of others' changes stops no upload")
    func longHistory() async throws {
        let base = try InProcessRemote(at: .inMemory)
        var remote = TwistedRemote(base: base)
        let isCut = Locked(true)
        remote.writeOutcome = { _ in
            isCut.withLock { $0 } ? .failed(RemoteError(.retryable, "the answer is lost")) : nil
        }
        // Longer than a pass reads; the user may see none of the changes.
        remote.changes = { token in
            let place = token.document["n"]?.int64Value ?? 0
            return RemoteChangeBatch(
                changes: [], token: ResumeToken(["n": .int64(min(place + 1, 250))]),
                hasMore: place < 250)
        }
        let engine = try SyncEngine(
            store: try DocumentStore(at: .inMemory), remote: remote,
            backoff: Backoff(initial: .zero, cap: .zero))
        let items = engine.collection(Self.items)
        try await items.insertOne(["_id": 1])
        try await engine.syncNow()
        isCut.withLock { $0 = false }
        for _ in 1...8 { try await engine.syncNow() }
        #expect(try await items.pendingIDs.isEmpty)
        #expect(try base.store.collection(Self.items).findOne(id: 1) != nil)
    }

    @Test("a history that leads nowhere is not read for ever", arguments: History.allCases)
    func history(_ history: History) async throws {
        let count = Locked(0)
        let base = try InProcessRemote(at: .inMemory)
        var remote = TwistedRemote(base: base)
        let isHostile = Locked(false)
        remote.changes = { token in
            guard isHostile.withLock({ $0 }) else {
                return RemoteChangeBatch(changes: [], token: token, hasMore: false)
            }
            let number = count.withLock { count in
                count += 1
                return count
            }
            let place = ResumeToken(["n": .int64(Int64(number))])
            let change = RemoteChange(
                documentID: "stranger", isDelete: false, version: .absent, operation: nil)
            return switch history {
            case .moreForEver: RemoteChangeBatch(changes: [], token: place, hasMore: true)
            case .unchangedPlace: RemoteChangeBatch(changes: [change], token: token, hasMore: true)
            case .everNewPlace: RemoteChangeBatch(changes: [change], token: place, hasMore: false)
            case .nothingAtOnce: RemoteChangeBatch(changes: [], token: place, hasMore: false)
            }
        }
        let engine = try Self.engine(remote)
        let items = engine.collection(Self.items)
        try await items.insertOne(["_id": 1])
        try await engine.syncUntilQuiet()
        isHostile.withLock { $0 = true }
        await #expect(throws: TimeoutError.self) {
            try await withTimeout(.milliseconds(700), clock: ContinuousClock()) {
                try await engine.run()
            }
        }
        #expect(count.withLock { $0 } <= 500)
    }

    /// A history without changes that, while something holds, always has another page.
    private static func history(
        endlessWhile isEndless: Locked<Bool>, pages: Locked<Int64>
    ) -> @Sendable (ResumeToken) -> RemoteChangeBatch {
        { token in
            guard isEndless.withLock({ $0 }) else {
                return RemoteChangeBatch(changes: [], token: token, hasMore: false)
            }
            let number = pages.withLock { pages in
                pages += 1
                return pages
            }
            return RemoteChangeBatch(
                changes: [], token: ResumeToken(["n": .int64(number)]), hasMore: true)
        }
    }

    @Test("a pass ends where the history always has more, and the next one goes on")
    func endless() async throws {
        var remote = TwistedRemote(base: try InProcessRemote(at: .inMemory))
        let count = Locked<Int64>(0)
        let isHostile = Locked(false)
        remote.changes = Self.history(endlessWhile: isHostile, pages: count)
        let engine = try Self.engine(remote)
        try await engine.collection(Self.items).insertOne(["_id": 1])
        try await engine.syncUntilQuiet()
        isHostile.withLock { $0 = true }
        let report = try await engine.syncNow()
        #expect(report.errors == [.remoteUnavailable])
        #expect(count.withLock { $0 } == Int64(PageBudget.emptyMax))
        isHostile.withLock { $0 = false }
        #expect(try await engine.syncNow().errors == [])
    }

    @Test("another identity is told, though its history always has more")
    func endlessOfAnother() async throws {
        var remote = TwistedRemote(base: try InProcessRemote(at: .inMemory))
        let count = Locked<Int64>(0)
        let isHostile = Locked(false)
        remote.identity = { identity in
            guard isHostile.withLock({ $0 }) else { return identity }
            return .known(BSONBinary(Array(0..<16), subtype: 4))
        }
        remote.changes = Self.history(endlessWhile: isHostile, pages: count)
        let engine = try Self.engine(remote)
        try await engine.collection(Self.items).insertOne(["_id": 1])
        try await engine.syncUntilQuiet()
        isHostile.withLock { $0 = true }
        #expect(try await engine.syncNow().errors == [.remoteChanged])
        #expect(count.withLock { $0 } == Int64(PageBudget.emptyMax))
    }

    @Test("waits end where only a person can help: sign-in, and a closed store")
    func waitsEnd() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A")
        world.remote.before { _ in throw RemoteError(.unauthenticated, "expired") }
        try await a.insert(["_id": 1])
        let upload = await #expect(throws: SyncError.self) { try await a.engine.waitForUpload() }
        #expect(upload?.code == .authRequired)
        let all = await #expect(throws: SyncError.self) { try await a.items.waitForDownload() }
        #expect(all?.code == .authRequired)
        let error = await #expect(throws: SyncError.self) {
            try await a.items.subscribe(to: ["n": 1], waitForSync: .always)
        }
        #expect(error?.code == .authRequired)
        world.remote.before(nil)
        try await a.engine.waitForSynchronization()
        // Known and there, the remote is asked all the same.
        let requests = Locked(0)
        world.remote.before { _ in requests.withLock { $0 += 1 } }
        try await a.items.subscribe(to: ["n": 1], waitForSync: .always)
        #expect(requests.withLock { $0 } > 0)
        world.remote.before(nil)
        await a.engine.flushEvents()
        _ = world.transcript()
    }
}
