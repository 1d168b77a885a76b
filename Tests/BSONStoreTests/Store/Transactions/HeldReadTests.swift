import Testing

@testable import BSONCore
@testable import BSONStore

/// Without these a read could give what was there before a commit that had returned, since reads of a
/// burst share one transaction.
@Suite struct HeldReadTests {
    private static let numbers = Namespace("app", "numbers")

    @Test func `each read sees the commit before it`() throws {
        let directory = try TemporaryDirectory()
        let store = try DocumentStore(
            at: .file(directory.file()), options: .init(durability: .normal))
        let numbers = store.collection(Self.numbers)
        for value in 0..<200 {
            try store.write {
                try $0.put(Self.numbers, ["_id": 0, "value": .int32(Int32(value))])
            }
            for _ in 0..<3 {
                #expect(try numbers.findOne(id: 0)?["value"] == .int32(Int32(value)))
            }
        }
    }

    @Test func `each read sees the commit of another connection before it`() throws {
        let directory = try TemporaryDirectory()
        let options = DocumentStore.Options(durability: .normal)
        let writer = try DocumentStore(at: .file(directory.file()), options: options)
        let reader = try DocumentStore(at: .file(directory.file()), options: options)
        for value in 0..<200 {
            try writer.write {
                try $0.put(Self.numbers, ["_id": 0, "value": .int32(Int32(value))])
            }
            let found = try reader.collection(Self.numbers).findOne(id: 0)
            #expect(found?["value"] == .int32(Int32(value)))
        }
    }

    @Test func `a read sees what another process committed while a state was held`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file()
        let store = try DocumentStore(at: .file(path), options: .init(durability: .normal))
        let numbers = store.collection(Self.numbers)
        try await numbers.insertOne(["_id": 0, "value": 0])
        for round in Int32(1)...3 {
            #expect(try numbers.findOne(id: 0)?["value"] == .int32(round - 1))
            await #expect(processExitsWith: .success) { [path = path as String] in
                let store = try DocumentStore(at: .file(path))
                try store.collection(Namespace("app", "numbers"))
                    .updateOne(["_id": 0], ["$inc": ["value": 1]])
            }
            #expect(try numbers.findOne(id: 0)?["value"] == .int32(round))
        }
    }

    @Test func `threads that read while one writes never go back`() async throws {
        let directory = try TemporaryDirectory()
        let store = try DocumentStore(
            at: .file(directory.file()), options: .init(durability: .normal))
        let numbers = store.collection(Self.numbers)
        try await numbers.insertOne(["_id": 0, "value": 0])
        let committed = Locked<Int32>(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    var last: Int32 = 0
                    while last < 300 {
                        let floor = committed.withLock { $0 }
                        guard case .int32(let value)? = try numbers.findOne(id: 0)?["value"]
                        else { return }
                        #expect(value >= floor && value >= last)
                        last = value
                        // The pool may have fewer threads than there are readers.
                        await Task.yield()
                    }
                }
            }
            group.addTask {
                for value in Int32(1)...300 {
                    try store.write {
                        try $0.put(Self.numbers, ["_id": 0, "value": .int32(value)])
                    }
                    committed.withLock { $0 = value }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func `an idle store lets another connection empty the log`() throws {
        let directory = try TemporaryDirectory()
        let store = try DocumentStore(at: .file(directory.file()))
        try store.write { try $0.insert(Self.numbers, ["_id": 0]) }
        _ = try store.collection(Self.numbers).findOne(id: 0)
        let other = try SQLiteConnection(path: directory.file(), mode: .readWrite)
        try other.configure(cacheKiB: 100, busyTimeoutMS: 20_000)
        // Waits for readers; the first column is 1 when one is still there after that.
        #expect(try other.int64("PRAGMA wal_checkpoint(TRUNCATE)") == 0)
        #expect(StoreFile.size(directory.file() + "-wal") == 0)
    }

    @Test func `a collection that was dropped meanwhile is gone for the next read`() throws {
        let directory = try TemporaryDirectory()
        let store = try DocumentStore(at: .file(directory.file()))
        try store.write { try $0.insert(Self.numbers, ["_id": 0]) }
        #expect(try store.collection(Self.numbers).find().count() == 1)
        let other = try SQLiteConnection(path: directory.file(), mode: .readWrite)
        try other.execute("DROP TABLE collection_1")
        try other.execute("DELETE FROM store_collections")
        #expect(try store.collection(Self.numbers).find().count() == 0)
        #expect(try store.collection(Self.numbers).findOne(id: 0) == nil)
    }

    @Test func `many who read at a time share a bounded cache`() throws {
        let directory = try TemporaryDirectory()
        let store = try DocumentStore(
            at: .file(directory.file()), options: .init(cacheKiB: 65_536))
        func cachesKiB(readers: Int) throws -> [Int64] {
            try store.read { transaction in
                let select = try transaction.connection.prepare("PRAGMA cache_size")
                _ = try select.step()
                let own = -select.int64(0)
                select.reset()
                return try [own] + (readers > 1 ? cachesKiB(readers: readers - 1) : [])
            }
        }
        let many = try cachesKiB(readers: 8)
        #expect(many == [65_536, 32_768, 16_384, 8_192, 4_096, 2_048, 2_048, 2_048])
        // The largest are kept for those who come next, and numbers that are free are used again.
        #expect(try cachesKiB(readers: 8) == many)
        #expect(try cachesKiB(readers: 1) == [65_536])
    }
}
