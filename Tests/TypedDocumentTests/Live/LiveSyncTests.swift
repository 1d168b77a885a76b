import BSONStore
import StitchSync
import Testing

/// Without these a view of synced documents would not follow what other devices change.
@Suite(.timeLimit(.minutes(30))) struct LiveSyncTests {
    /// Two devices that sync all tasks with one remote.
    private struct Devices {
        let remote: InProcessRemote
        let first: SyncCollection<LiveTask>
        let second: SyncCollection<LiveTask>

        init() async throws {
            let remote = try InProcessRemote(at: .inMemory)
            func device() async throws -> SyncCollection<LiveTask> {
                let engine = try SyncEngine(
                    store: DocumentStore(at: .inMemory), remote: remote)
                let tasks = engine.collection(LiveTask.namespace, of: LiveTask.self)
                await tasks.configure(conflictHandler: .remoteWins)
                try await tasks.subscribe { _ in .all }
                return tasks
            }
            self.remote = remote
            first = try await device()
            second = try await device()
        }

        /// Carries the second device's changes to the first.
        func sync() async throws {
            try await second.engine.syncUntilQuiet()
            try await first.engine.syncUntilQuiet()
        }
    }

    @Test func `another device's changes arrive with their places`() async throws {
        let devices = try await Devices()
        try await devices.first.insertMany([
            LiveTask(id: 1, complexity: 1), LiveTask(id: 2, complexity: 2),
            LiveTask(id: 3, complexity: 3),
        ])
        try await devices.first.engine.syncUntilQuiet()
        try await devices.second.engine.syncUntilQuiet()
        let query = try devices.first.find {
            $0.complexity <= 4
        }.sort(\.complexity).observe()
        var snapshots = query.makeAsyncIterator()
        #expect(try await snapshots.next()?.documents.map(\.id) == [1, 2, 3])

        try await devices.second.updateOne({ $0.id == 1 }) { $0.complexity.set(4) }
        try await devices.second.deleteOne { $0.id == 2 }
        try await devices.second.insertOne(LiveTask(id: 4, complexity: 0))
        try await devices.sync()
        var rows = [1, 2, 3]
        while rows != [4, 3, 1] {
            let snapshot = try #require(try await snapshots.next())
            snapshot.changes.apply(to: &rows) { snapshot.documents[$0].id }
            #expect(rows == snapshot.documents.map(\.id))
        }
        // An upload that changes no document gives no snapshot: the next one is of this write.
        try await devices.first.updateOne({ $0.id == 3 }) { $0.name.set("mine") }
        let own = try #require(try await snapshots.next())
        #expect(own.changes == ListChanges(changed: [1]))
        try await devices.first.engine.syncUntilQuiet()
        try await devices.first.deleteOne { $0.id == 4 }
        #expect(try await snapshots.next()?.changes == ListChanges(removed: [0]))
    }

    @Test func `a document of another edition of the app is reported`() async throws {
        let devices = try await Devices()
        try await devices.first.insertOne(LiveTask(id: 1, complexity: 1))
        var snapshots = try devices.first.find(["complexity": ["$gte": 0]]).sort(["_id": 1])
            .observe().makeAsyncIterator()
        #expect(try await snapshots.next()?.documents.count == 1)
        let raw = devices.second.engine.collection(LiveTask.namespace)
        try await raw.insertOne(["_id": 2, "complexity": 2, "done": "yes"])
        try await devices.sync()
        let snapshot = try #require(try await snapshots.next())
        #expect(snapshot.documents.map(\.id) == [1] && snapshot.changes.isEmpty)
        #expect(snapshot.failures.map(\.documentID) == [2])
        // Raw documents need no decoding.
        var documents = try devices.first.engine.collection(LiveTask.namespace)
            .find(["_id": 2]).observe().makeAsyncIterator()
        #expect(try await documents.next()?.documents.first?["done"] == "yes")
    }

    @Test @MainActor func `a view follows what another device changes`() async throws {
        let devices = try await Devices()
        let observed = ObservedQuery(try devices.first.find { !$0.done }.observe())
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await observed.run() }
            defer { group.cancelAll() }
            while !observed.isLoaded { await Task.yield() }
            try await devices.second.insertOne(LiveTask(id: 1, complexity: 1))
            try await devices.sync()
            while observed.documents.isEmpty { await Task.yield() }
            try await devices.second.updateOne({ $0.id == 1 }) { $0.done.set(true) }
            try await devices.sync()
            while !observed.documents.isEmpty { await Task.yield() }
            #expect(observed.changes == ListChanges(removed: [0]))
        }
    }
}
