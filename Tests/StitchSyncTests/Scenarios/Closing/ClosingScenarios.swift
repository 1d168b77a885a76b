import BSONStore
import Testing

@testable import StitchSync

/// A store that is closed or deleted leaves nobody waiting, nothing locked, and no second engine on
/// what is about to be deleted.
@Suite(.timeLimit(.minutes(30)))
struct ClosingScenarios {
    private static let items = Namespace("app", "items")

    /// Users whose remote is a store of its own, and what they all sync with.
    private static func users(
        _ directory: ScratchDirectory
    ) throws -> (UserStores, ScriptedRemote) {
        let remote = ScriptedRemote(try InProcessRemote(at: .inMemory))
        return (UserStores(directory: directory.path("users")) { _ in remote }, remote)
    }

    @Test("a sign-in while the user is signed out is refused, and works after it")
    func signInMeanwhile() async throws {
        let directory = try ScratchDirectory()
        let (users, remote) = try Self.users(directory)
        let engine = try users.signIn("anna")
        try await engine.collection(Self.items).insertOne(["_id": "k"])
        let (asked, released) = (Signal(), Signal())
        remote.before { _ in
            asked.notify()
            await released.wait(after: 0)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.syncNow() }
            await asked.wait(after: 0)
            group.addTask { try await users.signOut("anna", waitingForUpload: nil) }
            while true {
                do {
                    let again = try users.signIn("anna")
                    #expect(again === engine, "a second engine on a file that is being deleted")
                    guard again === engine else { break }
                } catch let error as SyncError {
                    #expect(error.code == .storeInUse)
                    break
                }
                await Task.yield()
            }
            await #expect(throws: SyncError.self) {
                try await users.signOut("anna", waitingForUpload: nil)
            }
            released.notify()
            try await group.waitForAll()
        }
        remote.before(nil)
        let again = try users.signIn("anna").collection(Self.items)
        #expect(try again.find().count() == 0)
        try await again.insertOne(["_id": "new"])
        try await again.waitForUpload()
        #expect(try await again.engine.verify().isEmpty)
    }

    @Test("a closed engine does not take the right to sync the file again")
    func closedEngineSyncs() async throws {
        let directory = try ScratchDirectory()
        let (users, _) = try Self.users(directory)
        let old = try users.signIn("anna")
        try await old.syncNow()
        try await users.close("anna")
        await #expect(throws: StoreError.self) { try await old.syncNow() }
        let new = try users.signIn("anna")
        try await new.syncNow()
        await #expect(throws: StoreError.self) { try await old.waitForUpload() }
        #expect(new !== old)
    }

    @Test("a store that is closed in the middle of a pass gives the right to sync its file back")
    func closedInPass() async throws {
        let directory = try ScratchDirectory()
        let (users, remote) = try Self.users(directory)
        let old = try users.signIn("anna")
        try await old.collection(Self.items).insertOne(["_id": "k"])
        remote.before { call in if call.kind == .write { old.store.close() } }
        await #expect(throws: StoreError.self) { try await old.syncNow() }
        remote.before(nil)
        let store = try DocumentStore(at: old.store.location)
        let new = try SyncEngine(store: store, remote: remote)
        try await new.syncUntilQuiet()
        #expect(try await new.collection(Self.items).status() == SyncStatus(synced: 1))
        #expect(throws: StoreError.self) { try old.store.checkIsOpen() }
    }

    @Test("who waits for documents or events of an engine that is offline learns that it is closed")
    func waiting() async throws {
        let directory = try ScratchDirectory()
        let (users, _) = try Self.users(directory)
        let engine = try users.signIn("anna")
        let items = engine.collection(Self.items)
        try await items.sync(ids: ["k"])
        engine.setOnline(false)
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await engine.waitForDownload() }
            group.addTask { try await items.waitForSynchronization() }
            group.addTask { for try await _ in items.events {} }
            group.addTask { for try await _ in items.statusUpdates {} }
            for _ in 0..<1_000 { await Task.yield() }
            await #expect(throws: Never.self) { try await users.close("anna") }
            while let result = await group.nextResult() {
                #expect(throws: StoreError.self) { try result.get() }
            }
        }
    }
}
