import BSONStore
import Foundation
import Testing

@testable import StitchSync

/// Several people use one device after another; nobody's documents become another's.
struct UserScenarios {
    /// A remote of each user's own, so that a write in the wrong name would show.
    private struct House {
        let directory: ScratchDirectory
        let worlds: [String: SyncWorld]
        let users: UserStores

        init(_ names: String...) throws {
            let directory = try ScratchDirectory()
            var worlds: [String: SyncWorld] = [:]
            for name in names { worlds[name] = try SyncWorld() }
            let all = worlds
            self.directory = directory
            self.worlds = worlds
            users = UserStores(directory: directory.path("users")) { name in
                guard let world = all[name] else { throw RemoteError(.rejected, "nobody") }
                return world.remote
            }
        }

        func items(_ name: String) throws -> SyncCollection<BSONDocument> {
            try users.signIn(name).collection(SyncWorld.namespace)
        }

        func world(_ name: String) throws -> SyncWorld { try #require(worlds[name]) }
    }

    @Test("a user's store that is closed right after a write leaves no log beside its file")
    func closedAfterWrite() async throws {
        let house = try House("anna")
        for number in 0..<40 as Range<Int32> {
            let items = try house.items("anna")
            await items.configure(changeEventListener: { _ in await Task.yield() })
            try await items.insertOne(["_id": .int32(number)])
            try await house.users.close("anna")
            let logs = try FileManager.default.subpathsOfDirectory(
                atPath: house.directory.path("users")
            ).filter { $0.hasSuffix("-wal") }
            #expect(logs == [])
        }
    }

    @Test("after an app closed a user's engine itself, a sign-in opens the documents anew")
    func closedByTheApp() async throws {
        let house = try House("anna")
        let first = try house.users.signIn("anna")
        try await house.items("anna").insertOne(["_id": 1])
        await first.close()
        let second = try house.users.signIn("anna")
        #expect(second !== first)
        #expect(try house.items("anna").find().count() == 1)
        try await house.items("anna").insertOne(["_id": 2])
        try await second.syncUntilQuiet()
        #expect(try house.world("anna").remoteDocument(2) == ["_id": 2])
        second.store.close()
        try await house.items("anna").insertOne(["_id": 3])
        try await house.users.signIn("anna").close()
        try await house.users.signOut("anna", waitingForUpload: .seconds(30))
        #expect(try house.world("anna").remoteDocument(3) == ["_id": 3])
    }

    @Test("a store opens with the secret that bound it and no other, also without a network")
    func secrets() async throws {
        let house = try House("anna", "bea")
        #expect(house.users.remote(of: "anna") == nil)
        let engine = try house.users.signIn("anna", secret: "right")
        #expect(house.users.remote(of: "anna") is ScriptedRemote)
        #expect(house.users.remote(of: "bea") == nil)
        _ = try house.users.signIn("anna", secret: "any, as long as none is bound")
        try house.users.bindSecret("right", to: "anna")
        func expectRefused(_ secret: String?) {
            let error = #expect(throws: SyncError.self) {
                try house.users.signIn("anna", secret: secret)
            }
            #expect(error?.code == .wrongSecret && error?.action == .refreshUser)
        }
        for secret in ["wrong", "", "right ", nil] { expectRefused(secret) }
        #expect(try house.users.signIn("anna", secret: "right") === engine)
        try await house.users.close("anna")
        #expect(house.users.remote(of: "anna") == nil)
        expectRefused("wrong")
        #expect(try house.users.userIDs() == ["anna"])
        // The remote has accepted another one.
        try house.users.bindSecret("new", to: "anna")
        expectRefused("right")
        _ = try house.users.signIn("anna", secret: "new")
        _ = try house.users.signIn("bea")
        try await house.users.signOut("anna", waitingForUpload: .seconds(30))
        // The secret went with the documents.
        _ = try house.users.signIn("anna", secret: "another")
        #expect(throws: SyncError.self) { try house.users.signIn("", secret: "new") }
        #expect(throws: SyncError.self) { try house.users.bindSecret("new", to: "") }
    }

    @Test(
        "who waits for sets of a store that is given up is told so, and nothing of them is left",
        .timeLimit(.minutes(30)))
    func givenUp() async throws {
        let house = try House("anna")
        let remote = try house.world("anna").remote
        remote.before { _ in throw RemoteError(.retryable, "down") }
        let items = try house.items("anna")
        let engine = items.engine
        var errors = engine.errors.makeAsyncIterator()
        var versions: [Int64] = []
        for number in 1...3 as ClosedRange<Int32> {
            let query = try SubscriptionQuery(items.find(["n": .int32(number)]))
            let set = try await engine.subscriptions.update { $0.insertOrAssign(query, named: "s") }
            versions.append(set.version)
        }
        await withThrowingTaskGroup(of: Void.self) { group in
            for version in versions {
                group.addTask {
                    try await engine.subscriptions.waitForSynchronization(of: version)
                }
            }
            group.addTask { for try await _ in engine.subscriptions.updates {} }
            _ = await errors.next()
            await #expect(throws: Never.self) {
                try await house.users.signOut("anna", waitingForUpload: nil)
            }
            while let result = await group.nextResult() {
                // That the store is closed, or that its file is gone.
                #expect(throws: (any Error).self) { try result.get() }
            }
        }
        remote.before(nil)
        let again = try house.items("anna").engine
        #expect(try again.subscriptions.version == 0 && again.subscriptions.count == 0)
        #expect(try again.subscriptions.state(of: 1) == nil)
        #expect(try await again.syncUntilQuiet().report.subscriptionSets == 0)
    }

    @Test("three users each see their own, find it again, and nothing once they were removed")
    func three() async throws {
        let names = ["anna", "ben", "cleo"]
        let house = try House("anna", "ben", "cleo")
        for name in names {
            let items = try house.items(name)
            #expect(try items.find().count() == 0)
            try await items.insertOne(["_id": "k", "of": .string(name)])
            #expect(try items.find().fetch() == [["_id": "k", "of": .string(name)]])
            try await house.users.close(name)
        }
        for name in names {
            let items = try house.items(name)
            #expect(try house.world(name).remoteChanged(times: 0))
            #expect(try items.find().fetch() == [["_id": "k", "of": .string(name)]])
            #expect(try await items.status(of: "k") == .pending)
            try await items.waitForUpload()
            #expect(try house.world(name).remoteDocument("k") == ["_id": "k", "of": .string(name)])
            try await house.users.close(name)
        }
        try await house.users.signOut("ben", waitingForUpload: nil)
        #expect(try house.users.userIDs() == ["anna", "cleo"])
        #expect(try house.items("ben").find().count() == 0)
        #expect(try house.world("ben").remoteDocument("k") != nil)
        #expect(try house.items("anna").find().count() == 1)
    }

    @Test("ids of any length and letters have stores of their own, whose paths do not show them")
    func anyID() async throws {
        let long = String(repeating: "a/../é", count: 200)
        let names = ["..", "Anna", "anna", long, long + "x", "u\u{301}ser", "\u{fa}ser"]
        let directory = try ScratchDirectory()
        let path = directory.path("users")
        let world = try SyncWorld()
        let users = UserStores(directory: path) { _ in world.remote }
        for (number, name) in names.enumerated() {
            let items = try users.signIn(name).collection(SyncWorld.namespace)
            #expect(try items.find().count() == 0)
            try await items.insertOne(["_id": .int32(Int32(number))])
        }
        for name in names { try await users.close(name) }
        #expect(
            Set(try users.userIDs().map { Array($0.utf8) }) == Set(names.map { Array($0.utf8) }))
        let files = try FileManager.default.subpathsOfDirectory(atPath: path)
        #expect(!files.contains { $0.contains("nna") || $0.contains("616e6e61") })
        for (number, name) in names.enumerated() {
            let items = try users.signIn(name).collection(SyncWorld.namespace)
            #expect(try items.find().fetch() == [["_id": .int32(Int32(number))]])
            try await users.signOut(name, waitingForUpload: nil)
        }
        #expect(try users.userIDs().isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: path).isEmpty)
    }

    @Test("a user whose id has another's hash does not get that one's documents")
    func sameHash() async throws {
        let directory = try ScratchDirectory()
        let path = directory.path("users")
        let world = try SyncWorld()
        let users = UserStores(directory: path) { _ in world.remote }
        try await users.signIn("anna").collection(SyncWorld.namespace).insertOne(["_id": "k"])
        try await users.close("anna")
        let name = try #require(FileManager.default.contentsOfDirectory(atPath: path).first)
        let owner = URL(filePath: path + "/\(name)/user-id")
        // As a power cut may leave it.
        try Data().write(to: owner)
        #expect(try users.signIn("anna").collection(SyncWorld.namespace).find().count() == 1)
        #expect(try users.userIDs() == ["anna"])
        try await users.close("anna")
        try Data("ben".utf8).write(to: owner)
        #expect(throws: SyncError.self) { try users.signIn("anna") }
        await #expect(throws: SyncError.self) {
            try await users.signOut("anna", waitingForUpload: nil)
        }
        #expect(try users.userIDs() == ["ben"])
    }

    @Test("a signed-out user's pending changes are lost only where that was asked for")
    func pendingAtSignOut() async throws {
        let house = try House("anna")
        let world = try house.world("anna")
        let items = try house.items("anna")
        await items.configure(conflictHandler: .localWins)
        try await items.insertOne(["_id": "sent"])
        try await items.syncNow()
        try await items.updateOne(["_id": "sent"], ["$set": ["x": 1]])
        world.remote.before { _ in throw RemoteError(.retryable, "down") }
        await #expect(throws: SyncError.self) {
            try await house.users.signOut("anna", waitingForUpload: .milliseconds(20))
        }
        #expect(try await house.items("anna").status(of: "sent") == .pending)
        try await house.users.signOut("anna", waitingForUpload: nil)
        world.remote.before(nil)
        #expect(try house.items("anna").find().count() == 0)
        #expect(try world.remoteDocument("sent") == ["_id": "sent"])
    }

    @Test("who signs out does not lose a change that a paused document holds back")
    func pausedAtSignOut() async throws {
        let house = try House("anna")
        let world = try house.world("anna")
        let items = try house.items("anna")
        await items.configure(conflictHandler: .localWins)
        world.remote.outcomes { _, outcomes in
            outcomes.map { _ in .failed(RemoteError(.rejected, code: 121, "not valid")) }
        }
        try await items.insertOne(["_id": "k", "x": 1])
        #expect(try await items.syncNow().paused == 1)
        world.remote.outcomes(nil)
        try world.foreignDelete("k")
        await #expect(throws: SyncError.self) {
            try await house.users.signOut("anna", waitingForUpload: .seconds(60))
        }
        #expect(try await house.items("anna").status().pending == 1)
        #expect(try await items.resumeSync(of: "k"))
        try await house.users.signOut("anna", waitingForUpload: .seconds(60))
        #expect(try world.remoteDocument("k") == ["_id": "k", "x": 1])
    }

    @Test(
        "who signs out does not lose a write that was refused on the way", arguments: [true, false])
    func rejectedAtSignOut(isTold: Bool) async throws {
        let house = try House("anna")
        let world = try house.world("anna")
        let items = try house.items("anna")
        await items.configure(conflictHandler: .localWins, rejectionPolicy: .revert)
        world.remote.outcomes { _, outcomes in
            outcomes.map { _ in .failed(RemoteError(.rejected, code: 121, "not valid")) }
        }
        try await items.insertOne(["_id": "k", "x": 1])
        let error = await #expect(throws: SyncError.self) {
            try await house.users.signOut("anna", waitingForUpload: .seconds(60))
        }
        #expect(error?.code == .timedOut)
        #expect(try await items.rejectedWrites.all().map(\.document) == [["_id": "k", "x": 1]])
        // It holds up no longer once the app has discarded it, or was told of it.
        if isTold {
            let told = Locked(0)
            let listener = items.engine.addErrorListener(in: items.namespace) { _ in
                told.withLock { $0 += 1 }
            }
            await items.engine.flushEvents()
            listener.remove()
            #expect(told.withLock { $0 } == 1)
        } else {
            await #expect(throws: SyncError.self) {
                try await house.users.signOut("anna", waitingForUpload: .seconds(60))
            }
            #expect(try await items.rejectedWrites.discardAll() == 1)
        }
        try await house.users.signOut("anna", waitingForUpload: .seconds(60))
        #expect(try house.users.userIDs() == [])
    }

    @Test("what is written while its user signs out is sent, or keeps the user signed in")
    func writesAtSignOut() async throws {
        for _ in 0..<40 {
            let house = try House("anna")
            let items = try house.items("anna")
            let acknowledged = Locked<[Int32]>([])
            async let writes: Void = {
                for id in 0..<1_000 as Range<Int32> {
                    // The store closes in the middle of this; what was acknowledged counts.
                    do { try await items.insertOne(["_id": .int32(id)]) } catch { return }
                    acknowledged.withLock { $0.append(id) }
                }
            }()
            var isSignedOut = false
            while !isSignedOut {
                do {
                    try await house.users.signOut("anna", waitingForUpload: .seconds(60))
                    isSignedOut = true
                } catch let error as SyncError where error.code == .timedOut {
                    #expect(try house.users.signIn("anna") === items.engine)
                }
            }
            await writes
            let world = try house.world("anna")
            for id in acknowledged.withLock({ $0 }) {
                #expect(try world.remoteDocument(.int32(id)) != nil)
            }
        }
    }

    @Test("a user whose closing is cancelled has the same engine as before")
    func closingIsCancelled() async throws {
        let house = try House("anna")
        let world = try house.world("anna")
        let items = try house.items("anna")
        let (engine, users) = (items.engine, house.users)
        let (asked, released) = (Signal(), Signal())
        world.remote.before { _ in
            asked.notify()
            await released.wait(after: 0)
        }
        try await items.insertOne(["_id": "k"])
        try await withThrowingTaskGroup(of: Void.self) { passes in
            passes.addTask { try await engine.syncNow() }
            await asked.wait(after: 0)
            let isClosed = await withTaskGroup(of: Bool.self) { group in
                group.addTask {
                    do { try await users.close("anna") } catch { return false }
                    return true
                }
                group.cancelAll()
                return await group.next()
            }
            #expect(isClosed == false)
            released.notify()
            try await passes.waitForAll()
        }
        world.remote.before(nil)
        #expect(try house.users.signIn("anna") === engine)
        #expect(try world.remoteDocument("k") != nil)
        try await house.users.close("anna")
        #expect(try house.users.signIn("anna") !== engine)
    }

    @Test(
        "a switch in the middle of a pass and of writes neither hangs nor writes in another's name",
        .timeLimit(.minutes(30)))
    func switchInFlight() async throws {
        let house = try House("anna", "ben")
        let world = try house.world("anna")
        let anna = try house.items("anna")
        try await anna.insertMany((0..<20).map { ["_id": .int32($0), "of": "anna"] })
        let (asked, released) = (Signal(), Signal())
        world.remote.after { call in
            guard call.kind == .write else { return }
            asked.notify()
            await released.wait(after: 0)
        }
        let acknowledged = Locked<[Int32]>([])
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await anna.engine.run() }
            await asked.wait(after: 0)
            group.addTask {
                for id in 100..<200 as Range<Int32> {
                    // The store closes in the middle of this; what was acknowledged counts.
                    do { try await anna.insertOne(["_id": .int32(id), "of": "anna"]) } catch {
                        return
                    }
                    acknowledged.withLock { $0.append(id) }
                }
            }
            group.cancelAll()
            try await house.users.close("anna")
            let ben = try house.items("ben")
            try await ben.insertOne(["_id": 1, "of": "ben"])
            try await ben.waitForUpload()
            #expect(try ben.find().count() == 1)
        }
        released.notify()
        world.remote.after(nil)
        #expect(try house.world("ben").remoteDocument(1) == ["_id": 1, "of": "ben"])
        #expect(try house.world("ben").remoteChanged(times: 1))
        let again = try house.items("anna")
        #expect(try await again.engine.verify().isEmpty)
        let kept = acknowledged.withLock { $0 }
        for id in kept { #expect(try again.findOne(id: .int32(id)) != nil) }
        try await again.waitForUpload()
        #expect(try again.find(["of": "ben"]).count() == 0)
        for id in 0..<20 as Range<Int32> {
            #expect(try world.remoteDocument(.int32(id))?["of"] == "anna")
            #expect(try world.remoteVersion(.int32(id))?.version?.counter == 0)
        }
    }
}
