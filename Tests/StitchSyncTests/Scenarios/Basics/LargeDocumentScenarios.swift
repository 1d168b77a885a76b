import BSONStore
import Testing

@testable import StitchSync

/// Documents of many bytes: a pass holds as many of them at a time as a request may have bytes.
@Suite(.remotes)
struct LargeDocumentScenarios {
    @Test("what does not fit into one answer comes with the next", arguments: [1, 9_000_000])
    func download(bytes: Int) async throws {
        let world = try SyncWorld()
        let a = try await world.device("A", limits: .bytes(bytes))
        let ids = (1...6).map { BSONValue.int32($0) }
        for id in ids { try world.foreign(id) { $0["b"] = SyncWorld.bytes(4_500_000) } }
        let looks = world.watchLooks()
        try await a.items.sync(ids: ids + [7])
        try await a.settle()
        // A server's answer has 16 MiB, whatever it is asked for.
        #expect(looks.withLock { $0.count } > 1)
        for id in ids {
            #expect(try await a.local(id)?["b"] == SyncWorld.bytes(4_500_000))
            try world.foreign(id) { $0["n"] = 1 }
        }
        try await a.settle()
        for id in ids { #expect(try await a.local(id)?["n"] == 1) }
        #expect(try await a.items.status() == SyncStatus(synced: 7))
    }

    @Test("a page of what a filter finds ends by its bytes, and the next one goes on behind it")
    func pages() async throws {
        let world = try SyncWorld()
        let ids = (1...7).map { BSONValue.int32($0) }
        for id in ids { try world.foreign(id) { $0["b"] = SyncWorld.bytes(4_500_000) } }
        let items = world.remote.collection(SyncWorld.namespace)
        var found: [BSONValue] = []
        var pages = 0
        while true {
            let page = try await items.find(matching: [:], after: found.last, limit: 100)
            found += page.documents.map(\.documentID)
            pages += 1
            if page.isLast { break }
        }
        #expect(found == ids && pages > 1)
    }
}

/// The same, where the remote tells by itself what an answer has.
struct LargeDocumentRequests {
    private static let count = 20

    private static func begin() async throws -> (SyncWorld, Device, Locked<[Int]>) {
        let world = try SyncWorld()
        let a = try await world.device("A", limits: .bytes(100_000))
        for id in 1...Int32(count) {
            try world.foreign(.int32(id)) { $0["b"] = SyncWorld.bytes(30_000) }
        }
        let looks = world.watchLooks()
        return (world, a, looks)
    }

    private static let ids = (1...Int32(count)).map { BSONValue.int32($0) }

    /// Changes all documents as another device does.
    private static func change(_ world: SyncWorld, _ n: BSONValue) throws {
        for id in ids {
            try world.foreign(id) { document in
                document["n"] = n
                document.raiseVersion()
            }
        }
    }

    @Test("ids that were asked for, changes and hints are looked at by four")
    func requests() async throws {
        let (world, a, looks) = try await Self.begin()
        try await a.items.sync(ids: Self.ids)
        // What had no version is looked at again with one.
        let claimed = try await a.sync()
        #expect(claimed.taken == Self.count && claimed.looked == 2 * Self.count)
        #expect(looks.withLock { $0 } == [20, 4, 16, 4, 12, 4, 8, 4, 4, 4])
        looks.withLock { $0 = [] }
        try Self.change(world, 1)
        #expect(try await a.sync().taken == Self.count)
        #expect(looks.withLock { $0 } == [20, 16, 12, 8, 4])
        looks.withLock { $0 = [] }
        try Self.change(world, 2)
        try await a.engine.forceScan(SyncWorld.namespace)
        #expect(try await a.sync().taken == Self.count)
        #expect(looks.withLock { $0 } == [20, 16, 12, 8, 4])
        for id in Self.ids { #expect(try await a.local(id)?["n"] == 2) }
    }

    @Test("a pass that ends between two answers goes on where it was", arguments: [false, true])
    func broken(isChange: Bool) async throws {
        let (world, a, _) = try await Self.begin()
        for id in Self.ids { try world.foreign(id) { $0.raiseVersion() } }
        try await a.items.sync(ids: Self.ids)
        if isChange {
            try await a.settle()
            try Self.change(world, 1)
        }
        world.beforeThirdLook { throw RemoteError(.retryable, "away") }
        let begun = try await a.sync()
        #expect(begun.taken == 8 && begun.errors == [.remoteUnavailable])
        #expect(try await a.items.status() == SyncStatus(synced: Self.count, toLook: 12))
        try await a.start()
        let report = try await a.sync()
        #expect(report.looked == 12 && report.taken == 12)
        #expect(try await a.items.status() == SyncStatus(synced: Self.count))
    }

    @Test("a device that is killed between two answers looks at the rest later")
    func killed() async throws {
        let (world, a, _) = try await Self.begin()
        for id in Self.ids { try world.foreign(id) { $0.raiseVersion() } }
        try await a.items.sync(ids: Self.ids)
        try await a.settle()
        try Self.change(world, 1)
        let directory = try ScratchDirectory()
        let copy = directory.path("copy.stitch")
        // What a kill would leave then.
        world.beforeThirdLook { try a.store.backup(to: copy) }
        try await a.sync()
        let engine = try SyncEngine(
            store: try DocumentStore(at: .file(copy)), remote: world.remote)
        try await engine.syncUntilQuiet()
        let items = engine.collection(SyncWorld.namespace)
        #expect(try items.find(["n": 1]).count() == Self.count)
        #expect(try await engine.verify() == [])
    }

    @Test(
        "events wait for their listener in the file, and few of large documents are read at a time")
    func events() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A")
        let sizes = Locked<[Int]>([])
        await a.items.configure(
            conflictHandler: .remoteWins,
            changeEventListener: { event in
                // What is read next while this one waits.
                do {
                    let next = try a.engine.delivery.events(
                        after: event.sequence - 1, in: SyncWorld.namespace)
                    sizes.withLock { $0.append(next.count) }
                } catch {
                    Issue.record("the events cannot be read: \(error)")
                }
            })
        let documents = (1...5).map { id -> BSONDocument in
            ["_id": .int32(id), "b": SyncWorld.bytes(1_500_000)]
        }
        try await a.items.insertMany(documents)
        await a.engine.flushEvents()
        #expect(sizes.withLock { $0 } == [3, 3, 3, 2, 1])
    }

    @Test("an upload reads no more editions than it sends")
    func upload() async throws {
        let (world, a, _) = try await Self.begin()
        try await a.items.sync(ids: Self.ids)
        try await a.settle()
        try await a.items.updateMany([:], ["$set": ["n": 1]])
        let read = try a.engine.store.read { transaction in
            let state = SyncRecordTable(connection: transaction.connection)
            return try [1, 40_000, .max].map { bytes in
                try state.page(of: .toUpload, in: 1, limit: 500, bytesMax: bytes).count
            }
        }
        #expect(read == [1, 2, 20])
        let writes = Locked<[Int]>([])
        world.remote.before { call in
            if call.kind == .write { writes.withLock { $0.append(call.writes.count) } }
        }
        #expect(try await a.sync().uploaded == Self.count)
        // The edition before and the one after.
        #expect(writes.withLock { $0.reduce(0, +) } == Self.count)
        #expect(writes.withLock { $0.allSatisfy { $0 == 1 } })
    }

    @Test("ids that are asked for while others are looked at are not taken for them")
    func wantedMeanwhile() async throws {
        let world = try SyncWorld()
        let a = try await world.device("A")
        for id in 1...3 as ClosedRange<Int32> {
            try world.foreign(.int32(id)) { $0.raiseVersion() }
        }
        try await a.items.sync(ids: [1, 2])
        world.remote.before { [world] call in
            guard call.kind == .find else { return }
            world.remote.before(nil)
            try await a.items.desync(ids: [1, 2])
            try await a.items.sync(ids: [3])
        }
        try await a.settle()
        #expect(try await a.items.syncedIDs == [3])
        #expect(try await a.local(3) != nil)
        #expect(try await a.engine.verify() == [])
    }
}

extension SyncWorld {
    /// How many documents each request looks at from now on.
    fileprivate func watchLooks() -> Locked<[Int]> {
        let looks = Locked<[Int]>([])
        remote.before { call in
            if call.kind == .find { looks.withLock { $0.append(call.documentIDs.count) } }
        }
        return looks
    }

    /// Runs a script before the third request from now on that looks at documents.
    fileprivate func beforeThirdLook(_ script: @escaping @Sendable () throws -> Void) {
        let count = Locked(0)
        remote.before { call in
            guard call.kind == .find else { return }
            let isThird = count.withLock { count in
                count += 1
                return count == 3
            }
            if isThird { try script() }
        }
    }
}

extension SyncLimits {
    fileprivate static func bytes(_ count: Int) -> SyncLimits {
        var limits = SyncLimits()
        limits.batchBytes = count
        return limits
    }
}

extension BSONDocument {
    /// Sets the document's first version, or the next one.
    fileprivate mutating func raiseVersion() {
        let counter = self["__stitch_sync_version"]?.documentValue?["v"]?.int64Value ?? -1
        self["__stitch_sync_version"] = [
            "spv": 1, "id": "0f0e0d0c-0b0a-0908-0706-050403020100", "v": .int64(counter + 1),
        ]
    }
}
