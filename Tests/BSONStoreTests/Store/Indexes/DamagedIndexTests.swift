#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
import Testing

@testable import BSONCore
@testable import BSONStore

/// Without these an index whose page was emptied answers that documents are not there.
@Suite struct DamagedIndexTests {
    private static let things = Namespace("app", "things")

    /// Makes a store of so many documents and empties the page that a table or index begins with.
    private static func damaged(
        _ directory: TemporaryDirectory, _ count: Int32, emptying name: String
    ) throws {
        let store = try DocumentStore(at: .file(directory.file()))
        let collection = store.collection(things)
        try collection.createIndex(["n": 1])
        try collection.insertMany((0..<count).map { ["_id": .int32($0), "n": .int32($0)] })
        let (root, pageBytes) = try store.read { transaction in
            (
                try transaction.connection.int64(
                    "SELECT rootpage FROM sqlite_schema WHERE name = '\(name)'"),
                try transaction.connection.int64("PRAGMA page_size")
            )
        }
        let (page, size) = (try #require(root), try #require(pageBytes))
        store.close()
        let url = URL(fileURLWithPath: directory.file())
        var image = try Data(contentsOf: url)
        let start = Int((page - 1) * size)
        // No cells; of an inner page it becomes a leaf. Types 2 and 5 are inner pages, 10 and 13 leaves.
        let type = image[start]
        image[start] = type == 2 ? 10 : type == 5 ? 13 : type
        for offset in 1..<8 { image[start + offset] = 0 }
        image[start + 5] = UInt8(size >> 8 & 0xFF)
        try image.write(to: url)
    }

    @Test(arguments: [
        "sqlite_autoindex_collection_1_1", "index_1", "collection_1", "store_options",
        "sqlite_autoindex_store_collections_1", "store_collections", "store_indexes",
        "sqlite_autoindex_store_indexes_1",
    ])
    func `an emptied index or table is told, not believed`(name: String) throws {
        for count: Int32 in [20, 5_000] {
            let directory = try TemporaryDirectory()
            try Self.damaged(directory, count, emptying: name)
            for query in [["_id": 3], ["n": 3], [:]] as [BSONDocument] {
                let error = #expect(throws: StoreError.self) {
                    let store = try DocumentStore(at: .file(directory.file()))
                    _ = try store.collection(Self.things).find(query).fetch()
                }
                #expect(error?.code == .corrupt)
            }
        }
    }

    @Test(arguments: ["sqlite_autoindex_collection_1_1", "index_1", "collection_1"])
    func `a damaged collection is reported by each read, not only by the first`(
        name: String
    ) throws {
        let directory = try TemporaryDirectory()
        try Self.damaged(directory, 5_000, emptying: name)
        let store = try DocumentStore(at: .file(directory.file()))
        for query in [["n": 3], ["n": 3], ["n": ["$gt": 1, "$lt": 5]]] as [BSONDocument] {
            let error = #expect(throws: StoreError.self) {
                _ = try store.collection(Self.things).find(query).fetch()
            }
            #expect(error?.code == .corrupt)
        }
    }

    @Test func `what is not there is confirmed where nothing is damaged`() throws {
        let directory = try TemporaryDirectory()
        let store = try DocumentStore(at: .file(directory.file()))
        try store.collection(Self.things).insertMany([["_id": 1], ["_id": 2]])
        try store.read { transaction in
            #expect(try transaction.get(Self.things, id: 3) == nil)
            try transaction.confirmAbsent(Self.things)
            try transaction.confirmAbsent(Namespace("app", "none"))
        }
    }
}
