import Testing

@testable import BSONCore
@testable import BSONStore

/// Without these a view could show what is gone, or a follower of the feed sleep through a change.
@Suite struct FollowingTests {
    private static let things = Namespace("app", "things")
    private static let options = DocumentStore.Options(
        durability: .normal, changeHistory: .keep(changesMax: 10_000))

    @Test(.timeLimit(.minutes(30)), arguments: [true, false])
    func `the feed gives what is there and what comes`(inMemory: Bool) async throws {
        let directory = try TemporaryDirectory()
        let store = try DocumentStore(
            at: inMemory ? .inMemory : .file(directory.file()), options: Self.options)
        let things = store.collection(Self.things)
        try await things.insertMany((Int32(0)..<10).map { ["_id": .int32($0)] })
        try await withThrowingTaskGroup(of: [Int64].self) { group in
            group.addTask {
                var positions: [Int64] = []
                for try await batch in store.followChanges(after: 3, limit: 4) {
                    #expect(batch.changes.count <= 4 && !batch.changes.isEmpty)
                    positions += batch.changes.map(\.position)
                    if positions.count == 17 { return positions }
                }
                return positions
            }
            for id in Int32(10)..<20 {
                await Task.yield()
                try await things.insertOne(["_id": .int32(id)])
            }
            for try await positions in group { #expect(positions == Array(4...20)) }
        }
    }

    @Test(.timeLimit(.minutes(30)))
    func `the feed of another connection wakes without a commit of its own`() async throws {
        let directory = try TemporaryDirectory()
        let writer = try DocumentStore(at: .file(directory.file()), options: Self.options)
        let reader = try DocumentStore(at: .file(directory.file()), options: Self.options)
        try await writer.collection(Self.things).insertOne(["_id": 0])
        var batches = reader.followChanges(after: 0).makeAsyncIterator()
        for id in Int32(0)..<20 {
            let batch = try await batches.next()
            #expect(batch?.changes.map(\.documentID) == [.int32(id)])
            async let next: BSONValue = writer.collection(Self.things)
                .insertOne(["_id": .int32(id + 1)])
            _ = try await next
        }
    }

    @Test(.timeLimit(.minutes(30)))
    func `following ends when its task is cancelled, and fails when the store is closed`()
        async throws
    {
        let directory = try TemporaryDirectory()
        let store = try DocumentStore(at: .file(directory.file()), options: Self.options)
        await withTaskGroup(of: Int?.self) { group in
            group.addTask {
                do {
                    var count = 0
                    for try await _ in store.followChanges(after: 0) { count += 1 }
                    return count
                } catch {
                    return nil
                }
            }
            group.cancelAll()
            for await count in group { #expect(count == 0) }
        }
        await withTaskGroup(of: StoreError.Code?.self) { group in
            group.addTask {
                do {
                    for try await _ in store.followChanges(after: 0) {}
                    return nil
                } catch {
                    return (error as? StoreError)?.code
                }
            }
            await Task.yield()
            store.close()
            for await code in group { #expect(code == .closed) }
        }
    }

    @Test(.timeLimit(.minutes(30)))
    func `a live query tells what is new, other and gone`() async throws {
        let directory = try TemporaryDirectory()
        let store = try DocumentStore(at: .file(directory.file()), options: Self.options)
        let things = store.collection(Self.things)
        try await things.insertMany([["_id": 1, "n": 3], ["_id": 2, "n": 1], ["_id": 3, "n": 9]])
        let query = try things.find(["n": ["$lt": 5]]).sort(["n": 1]).limit(2).observe()
        var snapshots = query.makeAsyncIterator()
        let first = try #require(try await snapshots.next())
        #expect(first.documents.map { $0["_id"] } == [2, 1])
        #expect(first.insertedIDs == [2, 1] && first.changedIDs == [] && first.removedIDs == [])
        try await things.updateOne(["_id": 3], ["$set": ["n": 10]])
        try await things.updateOne(["_id": 2], ["$set": ["n": 4]])
        let second = try #require(try await snapshots.next())
        #expect(second.documents.map { $0["_id"] } == [1, 2])
        #expect(second.insertedIDs == [] && second.changedIDs == [2] && second.removedIDs == [])
        try await things.deleteOne(["_id": 1])
        let third = try #require(try await snapshots.next())
        #expect(third.removedIDs == [1] && third.documents.count == 1)
    }

    @Test(.timeLimit(.minutes(30)))
    @MainActor func `an observed query follows its documents`() async throws {
        let directory = try TemporaryDirectory()
        let store = try DocumentStore(at: .file(directory.file()), options: Self.options)
        let observed = ObservedQuery(try store.collection(Self.things).find().observe())
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await observed.run() }
            do {
                for id in Int32(1)...3 {
                    try await store.collection(Self.things).insertOne(["_id": .int32(id)])
                    while observed.documents.count < id { await Task.yield() }
                }
            } catch {
                Issue.record(error)
            }
            group.cancelAll()
        }
        #expect(observed.documents == [["_id": 1], ["_id": 2], ["_id": 3]])
        #expect(observed.error == nil)
    }
}
