import Testing

@testable import BSONCore
@testable import BSONStore

/// The feed keeps no second copy of a document: without these a reader could be given another document
/// than the one that a change left.
@Suite struct ChangeImagesTests {
    private static let things = Namespace("app", "things")

    private static func store(
        in directory: TemporaryDirectory, keeping changesMax: Int = 100_000
    ) throws -> DocumentStore {
        try DocumentStore(
            at: .file(directory.file()),
            options: .init(changeHistory: .keep(changesMax: changesMax)))
    }

    @Test(arguments: UInt64(0)..<60)
    func `every change has the documents that it had, whatever came after it`(
        seed: UInt64
    ) throws {
        let directory = try TemporaryDirectory()
        var world = ImagesWorld(store: try Self.store(in: directory), seed: seed)
        // Another process's view of the same file.
        let other = try Self.store(in: directory)
        for _ in 0..<12 {
            try world.act(25)
            try world.check(world.store)
            try world.check(other)
        }
        #expect(try world.store.verify().isSound)
        try world.store.compact()
        try world.check(world.store)
    }

    @Test func `what is no longer kept does not matter to what is`() throws {
        let directory = try TemporaryDirectory()
        var world = ImagesWorld(store: try Self.store(in: directory, keeping: 40), seed: 7)
        for _ in 0..<40 {
            try world.act(9)
            try world.check(world.store, keeping: 40)
        }
        #expect(try world.store.verify().isSound)
    }

    @Test func `a document that changes often is found from near by`() throws {
        let directory = try TemporaryDirectory()
        let store = try Self.store(in: directory)
        let counter = store.collection(Self.things)
        try counter.insertOne([
            "_id": 1, "n": 0, "text": .string(String(repeating: "x", count: 900)),
        ])
        for _ in 0..<2_000 { try counter.updateOne(["_id": 1], ["$inc": ["n": 1]]) }
        let changes = try store.changes(after: 0, limit: 3_000).changes
        #expect(changes.map { $0.after?["n"] } == (Int32(0)...2_000).map { .int32($0) })
        let kept = try store.read { transaction in
            try transaction.connection.int64(
                "SELECT count(*) FROM store_changes WHERE length(after) > 900")
        }
        #expect((80...200).contains(kept ?? 0))
        let farthest = try store.read { transaction in
            try transaction.connection.int64(
                """
                SELECT max(gap) FROM (
                    SELECT position - lag(position) OVER (ORDER BY position) AS gap
                    FROM store_changes WHERE document IS NOT NULL)
                """)
        }
        #expect(farthest.map { $0 < 100 } == true)
    }

    @Test func `a new or changed document is written once`() throws {
        let directory = try TemporaryDirectory()
        let store = try Self.store(in: directory)
        let text = BSONValue.string(String(repeating: "x", count: 4_000))
        let things = store.collection(Self.things)
        try things.insertMany((Int32(0)..<100).map { ["_id": .int32($0), "text": text] })
        try things.updateMany([:], ["$set": ["seen": true]])
        let bytes = try store.read { transaction in
            try transaction.connection.int64(
                "SELECT sum(length(before)) + sum(length(after)) FROM store_changes")
        }
        // Of 200 changes some twelve keep the document all the same.
        #expect(bytes.map { $0 < 25 * 4_000 } == true)
    }

    @Test func `a change of a damaged document is refused, and passed over once it is put aside`()
        throws
    {
        let directory = try TemporaryDirectory()
        let store = try Self.store(in: directory)
        let things = store.collection(Self.things)
        try things.insertMany([["_id": 1], ["_id": 2, "a": 1], ["_id": 3]])
        try things.replaceOne(["_id": 2], ["other": "content that shares nothing"])
        try things.updateOne(["_id": 2], ["$set": ["b": 1]])
        try store.write { transaction in
            try transaction.connection.execute(
                "UPDATE collection_1 SET doc = x'0F000000' WHERE id = 2")
        }
        let error = #expect(throws: StoreError.self) { try store.changes(after: 0) }
        #expect(error?.code == .corrupt && error?.documentID == 2)
        #expect(try store.verify().faults.map(\.place) == [.document])
        try store.quarantine()
        let changes = try store.changes(after: 0).changes
        // What the replacement removed was kept whole; what it left is lost with the document.
        #expect(changes.map(\.position) == [1, 2, 3])
        #expect(changes.map(\.after) == [["_id": 1], ["_id": 2, "a": 1], ["_id": 3]])
        #expect(try store.verify().isSound)
        try things.insertOne(["_id": 2, "again": true])
        #expect(try store.changes(after: 5).changes.map(\.after) == [["_id": 2, "again": true]])
    }

    @Test(arguments: [
        "DELETE FROM collection_1 WHERE id = 2",
        "UPDATE collection_1 SET change = 1 WHERE id = 2",
        "UPDATE collection_1 SET change = 9 WHERE id = 2",
        "UPDATE store_changes SET after = x'00000000' || zeroblob(16) WHERE position = 3",
        "UPDATE store_changes SET before = x'0000000000000000FFFFFF7F' WHERE position = 4",
        "UPDATE store_changes SET after = x'00000000' || after WHERE position = 4",
    ])
    func `a way that does not lead to the document is told`(damage: String) throws {
        let directory = try TemporaryDirectory()
        let store = try Self.store(in: directory)
        let things = store.collection(Self.things)
        try things.insertMany([["_id": 1], ["_id": 2, "a": "a text that is long enough"]])
        try things.updateOne(["_id": 2], ["$set": ["b": 1]])
        try things.updateOne(["_id": 2], ["$set": ["b": 2]])
        try store.write { try $0.connection.execute(damage) }
        let error = #expect(throws: StoreError.self) { try store.changes(after: 0) }
        #expect(error?.code == .corrupt)
        #expect(try !store.verify().isSound)
    }
}

/// Writes to a few collections at random, and remembers what the feed has to tell.
private struct ImagesWorld {
    /// What is expected of a change.
    struct Told: Equatable {
        let kind: StoreChange.Kind
        let namespace: Namespace
        let before: BSONDocument?
        let after: BSONDocument?
    }

    let store: DocumentStore
    private var random: SeededGenerator
    private var told: [Told] = []
    private var documents: [Namespace: [Int32: BSONDocument]] = [:]
    private let names = ["a", "b", "c"].map { Namespace("app", $0) }

    init(store: DocumentStore, seed: UInt64) {
        self.store = store
        random = SeededGenerator(seed: seed)
    }

    /// Does some things, several of them in one transaction.
    mutating func act(_ count: Int) throws {
        var rest = count
        while rest > 0 {
            let together = Int.random(in: 1...4, using: &random)
            var world = self
            try store.write { transaction in
                for _ in 0..<together { try world.step(transaction) }
            }
            self = world
            rest -= together
        }
    }

    /// Compares the whole feed, and what is read from one place in it, with what it has to tell.
    mutating func check(_ store: DocumentStore, keeping changesMax: Int = .max) throws {
        let floor = max(0, told.count - changesMax)
        let start = Int.random(in: floor...told.count, using: &random)
        var position = Int64(start)
        var changes: [StoreChange] = []
        while true {
            let batch = try store.changes(
                after: position, limit: Int.random(in: 1...50, using: &random))
            changes += batch.changes
            position = batch.position
            if batch.isAtEnd { break }
        }
        let found = changes.map {
            Told(kind: $0.kind, namespace: $0.namespace, before: $0.before, after: $0.after)
        }
        #expect(found == Array(told[start...]))
    }

    private mutating func step(_ transaction: WriteTransaction) throws {
        let name = names[Int.random(in: 0..<names.count, using: &random)]
        let id = Int32.random(in: 0..<6, using: &random)
        let before = documents[name]?[id]
        switch Int.random(in: 0..<40, using: &random) {
        case 0: try drop(name, transaction)
        case 1: try rename(name, transaction)
        case 2:
            guard documents[name] != nil else { return }
            // The collection's table gets another number.
            let level = Bool.random(using: &random) ? "strict" : "moderate"
            try transaction.modifyCollection(name, ["validationLevel": .string(level)])
        case 3: try insertBatch(name, transaction)
        case 4..<10:
            guard let before else { return }
            try transaction.remove(name, id: .int32(id))
            note(.delete, name, id, before, nil)
        case 10..<16:
            let document = document(id)
            guard document != before else { return }
            try transaction.put(name, document)
            note(before == nil ? .insert : .replace, name, id, before, document)
        case 16..<18:
            // What is undone leaves no trace.
            struct Undone: Error {}
            var world = self
            _ = #expect(throws: Undone.self) {
                try transaction.savepoint {
                    for _ in 0..<3 { try world.write(name, transaction) }
                    throw Undone()
                }
            }
        default: try write(name, transaction)
        }
    }

    private mutating func write(_ name: Namespace, _ transaction: WriteTransaction) throws {
        let id = Int32.random(in: 0..<6, using: &random)
        guard let before = documents[name]?[id] else {
            let document = document(id)
            try transaction.insert(name, document)
            note(.insert, name, id, nil, document)
            return
        }
        let value = BSONValue.int32(.random(in: 0...3, using: &random))
        let filter: Filter =
            Bool.random(using: &random)
            ? try Filter(["_id": .int32(id)])
            : try Filter(["_id": ["$lte": .int32(id)], "id": .int32(id)])
        let outcome = try transaction.updateOne(
            name, filter: filter, update: Update(["$set": ["n": value]]))
        guard outcome.modifiedCount == 1 else { return }
        note(.update, name, id, before, outcome.images.first?.after)
    }

    private mutating func insertBatch(
        _ name: Namespace, _ transaction: WriteTransaction
    ) throws {
        let free = (Int32(0)..<30).filter { documents[name]?[$0] == nil }
        let new = free.map { document($0) }
        try transaction.insertBatch(name, new)
        for (id, document) in zip(free, new) { note(.insert, name, id, nil, document) }
    }

    private mutating func drop(_ name: Namespace, _ transaction: WriteTransaction) throws {
        guard documents.removeValue(forKey: name) != nil else { return }
        try transaction.dropCollection(name)
        told.append(Told(kind: .drop, namespace: name, before: nil, after: nil))
    }

    private mutating func rename(_ name: Namespace, _ transaction: WriteTransaction) throws {
        let target = names[Int.random(in: 0..<names.count, using: &random)]
        guard target != name, let moved = documents.removeValue(forKey: name) else { return }
        try transaction.renameCollection(name, to: target, dropTarget: true)
        documents[target] = moved
        func place(_ of: Namespace) -> BSONValue {
            ["db": .string(of.database), "coll": .string(of.collection)]
        }
        told.append(
            Told(kind: .rename, namespace: name, before: nil, after: ["to": place(target)]))
        told.append(
            Told(kind: .renameTarget, namespace: target, before: nil, after: ["from": place(name)]))
    }

    private mutating func note(
        _ kind: StoreChange.Kind, _ name: Namespace, _ id: Int32, _ before: BSONDocument?,
        _ after: BSONDocument?
    ) {
        told.append(Told(kind: kind, namespace: name, before: before, after: after))
        documents[name, default: [:]][id] = after
    }

    /// A document that shares much with others, or little, and may be of several pages.
    private mutating func document(_ id: Int32) -> BSONDocument {
        let count = [0, 5, 80, 700, 9_000][Int.random(in: 0..<5, using: &random)]
        let letter = ["x", "y"][Int.random(in: 0..<2, using: &random)]
        return [
            "_id": .int32(id), "id": .int32(id), "n": .int32(.random(in: 0...3, using: &random)),
            "text": .string(String(repeating: letter, count: count)),
        ]
    }
}
