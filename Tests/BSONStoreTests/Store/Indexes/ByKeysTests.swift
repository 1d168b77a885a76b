import BSONStore
import Testing

/// Without these a walk over the index could give a document for another id, or miss one.
@Suite struct ByKeysTests {
    private static let things = Namespace("app", "things")

    /// A store with documents of the even numbers below 200.
    private static func store() throws -> DocumentStore {
        let store = try DocumentStore(at: .inMemory)
        try store.write { transaction in
            for id in stride(from: 0, to: 200, by: 2).reversed() {
                try transaction.insert(
                    things, ["_id": .int32(Int32(id)), "n": .string("number \(id)")])
            }
        }
        return store
    }

    private static let orders: [(name: String, ids: [Int32])] = [
        ("all that are there", Array(stride(from: 0, to: 200, by: 2))),
        ("every number", Array(0..<200)),
        ("only what is missing", Array(stride(from: 1, to: 200, by: 2))),
        ("far apart", Array(stride(from: 0, to: 200, by: 26))),
        ("near, then far, then near", [0, 2, 4, 6, 60, 62, 90, 150, 151, 152, 154, 198, 300]),
        ("before and behind", Array(-20..<4) + Array(196..<220)),
        ("few", [2, 4]), ("none", []),
        ("falling", Array(0..<40).reversed()),
        ("one twice", [0, 2, 2, 4, 6, 8, 10, 12, 14]),
    ]

    @Test(arguments: orders.map(\.name))
    func `documents are found in the order of the ids`(_ name: String) throws {
        let ids = try #require(Self.orders.first { $0.name == name }).ids
        let store = try Self.store()
        let found = try store.read { try $0.getMany(Self.things, ids: ids.map(BSONValue.int32)) }
        #expect(found.count == ids.count)
        for (id, document) in zip(ids, found) {
            let isThere = (0..<200).contains(id) && id % 2 == 0
            #expect(document?["_id"] == (isThere ? .int32(id) : nil))
            #expect(document?["n"] == (isThere ? .string("number \(id)") : nil))
        }
    }

    @Test func `a limit of bytes ends both ways alike`() throws {
        let store = try Self.store()
        let ids = stride(from: 0, to: 40, by: 2).map { BSONValue.int32($0) }
        let bytes = try #require(try store.read { try $0.get(Self.things, id: 10) }).byteCount
        let (walked, sought) = try store.read { transaction in
            (
                try transaction.getFirst(Self.things, ids: ids, bytesMax: 5 * bytes),
                try transaction.getFirst(
                    Self.things, ids: [0, 4, 2] + ids[3...], bytesMax: 5 * bytes)
            )
        }
        #expect(walked.compactMap { $0?["_id"] } == [0, 2, 4, 6, 8, 10])
        #expect(sought.compactMap { $0?["_id"] } == [0, 4, 2, 6, 8, 10])
    }

    @Test func `keys of all types keep their order`() throws {
        let store = try DocumentStore(at: .inMemory)
        let ids: [BSONValue] = [
            .null, 1, 2.5, "a", "a\u{0}", "ab", ["x": 1], .binary(BSONBinary([1])),
            .objectID(try BSONObjectID(String(repeating: "0", count: 24))), false, true,
        ]
        try store.write { transaction in
            for id in ids.shuffled() { try transaction.insert(Self.things, ["_id": id]) }
        }
        let found = try store.read { try $0.getMany(Self.things, ids: ids) }
        #expect(found.map { $0?["_id"] } == ids)
    }

    @Test func `documents that are found together can be replaced`() throws {
        let store = try Self.store()
        let ids = (0..<10).map { BSONValue.int32($0) }
        try store.write { transaction in
            let found = try #require(try transaction.findInKeyOrder(Self.things, ids: ids))
            for (id, stored) in zip(ids, found) {
                guard let stored else { continue }
                try transaction.replace(Self.things, stored, by: ["_id": id, "n": "new"])
            }
            #expect(try transaction.findInKeyOrder(Self.things, ids: ids.reversed()) == nil)
        }
        let after = try store.read { try $0.getMany(Self.things, ids: ids + [10]) }
        #expect(after.compactMap { $0?["n"] } == Array(repeating: "new", count: 5) + ["number 10"])
    }
}
