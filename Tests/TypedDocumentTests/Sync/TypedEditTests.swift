import BSONStore
import Foundation
import StitchSync
import Testing

/// Without these a typed write on one device would overwrite what another device wrote (rule R15).
@Suite struct TypedEditTests {
    private struct Line: Codable, Hashable {
        var name: String
        var quantity: Int
    }

    private struct Place: Codable, Hashable { var city: String, street: String? }

    private struct Todo: Codable, Hashable {
        var id: Int
        var title: String
        var state: String
        var due: Date?
        var price: Decimal
        var tags: Set<String>
        var counts: [UUID: Int]
        var photo: Data?
        var link: URL?
        var place: Place?
        var lines: [Line]

        enum CodingKeys: String, CodingKey {
            case id = "_id"
            case title, state, due, price, tags, counts, photo, link, place, lines
        }

        init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            id = try fields.decode(Int.self, forKey: .id)
            title = try fields.decode(String.self, forKey: .title)
            state = try fields.decodeIfPresent(String.self, forKey: .state) ?? "open"
            due = try fields.decodeIfPresent(Date.self, forKey: .due)
            price = try fields.decodeIfPresent(Decimal.self, forKey: .price) ?? 0
            tags = try fields.decodeIfPresent(Set<String>.self, forKey: .tags) ?? []
            counts = try fields.decodeIfPresent([UUID: Int].self, forKey: .counts) ?? [:]
            photo = try fields.decodeIfPresent(Data.self, forKey: .photo)
            link = try fields.decodeIfPresent(URL.self, forKey: .link)
            place = try fields.decodeIfPresent(Place.self, forKey: .place)
            lines = try fields.decodeIfPresent([Line].self, forKey: .lines) ?? []
        }
    }

    /// A stored field, and what another device makes of it.
    struct Case: Sendable, CustomTestStringConvertible {
        let field: String
        let stored: BSONValue?
        let edited: BSONValue
        var testDescription: String { "\(field): \(stored.map { "\($0)" } ?? "missing")" }
    }

    static let cases = [
        Case(field: "state", stored: nil, edited: "done"),
        Case(field: "state", stored: .null, edited: "done"),
        Case(field: "due", stored: .null, edited: .datetime(BSONDatetime(milliseconds: 7))),
        Case(
            field: "price", stored: .exactDecimal("10.00"),
            edited: .decimal128(BSONDecimal128(12))),
        Case(field: "price", stored: 10, edited: 12.5),
        Case(field: "tags", stored: ["z", "b", "y", "a", "x"], edited: ["z", "b"]),
        Case(
            field: "counts",
            stored: [.uuid(uuid(3)), 1, .uuid(uuid(1)), 2, .uuid(uuid(2)), 3],
            edited: [.uuid(uuid(3)), 5]),
        Case(
            field: "photo", stored: .binary(BSONBinary([1], subtype: 128)),
            edited: .binary(BSONBinary([2], subtype: 128))),
        Case(field: "photo", stored: .binary(BSONBinary([1], subtype: 5)), edited: .null),
        Case(field: "link", stored: "http://x.org/ä b", edited: "http://x.org"),
        Case(field: "place", stored: ["city": "Rome", "street": .null], edited: ["city": "Oslo"]),
        Case(
            field: "lines", stored: [["name": "pen", "quantity": 1, "note": "red"]], edited: []),
        Case(field: "later", stored: ["deep": [.null, 1.0]], edited: 2),
    ]

    private static func uuid(_ byte: UInt8) -> UUID {
        UUID(uuid: (byte, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    }

    private static let namespace = Namespace("app", "todos")

    /// A remote that holds a document, and a device that has it.
    private struct World {
        let remote: InProcessRemote
        let store: DocumentStore
        let engine: SyncEngine
        let todos: SyncCollection<Todo>
        let raw: SyncCollection<BSONDocument>

        init(_ document: BSONDocument) async throws {
            remote = try InProcessRemote(at: .inMemory)
            try await remote.store.collection(namespace).insertOne(document)
            store = try DocumentStore(at: .inMemory)
            engine = try SyncEngine(store: store, remote: remote)
            todos = engine.collection(namespace, of: Todo.self)
            raw = engine.collection(namespace)
            await todos.configure(conflictHandler: .mergeFields())
            try await todos.sync(ids: [1])
            try await engine.syncUntilQuiet()
        }

        var there: BSONDocument? {
            get throws {
                try remote.store.collection(namespace).findOne(id: 1)?.withoutVersionField
            }
        }
    }

    private static func document(_ stored: Case) -> BSONDocument {
        var document: BSONDocument = ["_id": 1, "title": "pen"]
        if let value = stored.stored { document.append(stored.field, value) }
        return document
    }

    @Test("both devices' edits of different fields arrive", arguments: cases)
    func bothArrive(_ stored: Case) async throws {
        for write in ["modify", "replaceOne", "findOneAndReplace"] {
            let world = try await World(Self.document(stored))
            let read = try #require(try world.todos.findOne(id: 1))
            try await world.remote.store.collection(Self.namespace).updateOne(
                ["_id": 1],
                ["$set": [stored.field: stored.edited], "$inc": ["__stitch_sync_version.v": 1]])
            switch write {
            case "modify": try await world.todos.modify(id: 1) { $0.title = "ink" }
            default:
                var edited = read
                edited.title = "ink"
                if write == "replaceOne" {
                    try await world.todos.replaceOne(["_id": 1], edited)
                } else {
                    try await world.todos.findOneAndReplace(["_id": 1], edited)
                }
            }
            try await world.engine.syncUntilQuiet()
            var expected = Self.document(stored)
            expected["title"] = "ink"
            expected[stored.field] = stored.edited
            #expect(try world.there?.contentEquals(expected) == true, "\(write)")
            #expect(try world.raw.findOne(id: 1)?.contentEquals(expected) == true)
        }
    }

    @Test("an edit that changes nothing stores nothing", arguments: cases)
    func nothing(_ stored: Case) async throws {
        let world = try await World(Self.document(stored))
        let read = try #require(try world.todos.findOne(id: 1))
        try await world.todos.modify(id: 1) { _ in }
        try await world.todos.replaceOne(["_id": 1], read)
        try await world.todos.findOneAndReplace(["_id": 1], read)
        #expect(try await world.todos.pendingIDs.isEmpty)
        #expect(try world.raw.findOne(id: 1) == Self.document(stored))

        let local = world.store.collection(Namespace("local", "todos"), of: Todo.self)
        try await local.documents.insertOne(Self.document(stored))
        try local.modify(id: 1) { _ in }
        try await local.replaceOne(["_id": 1], read)
        #expect(try local.documents.findOne(id: 1) == Self.document(stored))
    }

    @Test("fields that the type does not know stay in elements of arrays, also by a handler")
    func elements() async throws {
        let document: BSONDocument = [
            "_id": 1, "title": "pen",
            "lines": [
                ["name": "a", "quantity": 1, "note": "x"],
                ["name": "b", "quantity": 2, "note": "y"],
            ],
        ]
        let world = try await World(document)
        try await world.todos.modify(id: 1) { $0.lines[0].quantity = 5 }
        try await world.engine.syncUntilQuiet()
        let expected: BSONValue = [
            ["name": "a", "quantity": .int64(5), "note": "x"],
            ["name": "b", "quantity": 2, "note": "y"],
        ]
        #expect(try world.there?["lines"] == expected)

        // The remote lost an element, which the handler takes from the local edition.
        await world.todos.configure(
            conflictHandler: ConflictHandler { conflict in
                guard var merged = conflict.remote, let local = conflict.local else {
                    return .useRemote
                }
                merged.lines = local.lines
                return .use(merged)
            })
        try await world.remote.store.collection(Self.namespace).updateOne(
            ["_id": 1],
            [
                "$set": ["lines": [["name": "b", "quantity": 2, "note": "z"]]],
                "$inc": ["__stitch_sync_version.v": 1],
            ])
        try await world.todos.modify(id: 1) { $0.title = "ink" }
        try await world.engine.syncUntilQuiet()
        let lines = try world.there?["lines"]
        #expect(
            lines == [
                ["name": "a", "quantity": .int64(5), "note": "x"],
                ["name": "b", "quantity": 2, "note": "z"],
            ])
    }

    @Test("a conflict whose editions do not decode goes on once the app can decode them")
    func undecodable() async throws {
        let world = try await World(["_id": 1, "title": "pen"])
        await world.todos.configure(
            conflictHandler: ConflictHandler { conflict in
                guard var merged = conflict.remote, let local = conflict.local else {
                    return .useRemote
                }
                merged.title += local.title
                return .use(merged)
            })
        try await world.todos.modify(id: 1) { $0.title = "ink" }
        let remote = world.remote.store.collection(Self.namespace)
        let bump: BSONDocument = ["__stitch_sync_version.v": 1]
        try await remote.updateOne(["_id": 1], ["$set": ["title": 7], "$inc": .document(bump)])
        #expect(try await world.engine.syncUntilQuiet().report.errors == [.decodingFailed])
        let reason = try await world.todos.status(of: 1).pauseReason
        #expect(reason?.code == .decodingFailed)
        #expect(reason?.message.hasPrefix("the remote edition: cannot decode document 1") == true)
        // Nothing new: it waits, and no pass asks again.
        #expect(try await world.engine.syncUntilQuiet().report.errors.isEmpty)

        // A newer app decodes it.
        struct NewTodo: Codable, Sendable {
            var title: BSONValue
        }
        let newer = world.engine.collection(Self.namespace, of: NewTodo.self)
        await newer.configure(conflictHandler: ConflictHandler { _ in .useLocal })
        try await world.engine.syncUntilQuiet()
        #expect(try world.there?["title"] == "ink")

        // Another device makes it decodable.
        await world.todos.configure(conflictHandler: ConflictHandler { _ in .useLocal })
        try await remote.updateOne(["_id": 1], ["$set": ["title": 7], "$inc": .document(bump)])
        try await world.raw.updateOne(["_id": 1], ["$set": ["title": "red"]])
        try await world.engine.syncUntilQuiet()
        #expect(try await world.todos.status(of: 1).pauseReason?.code == .decodingFailed)
        try await remote.updateOne(
            ["_id": 1], ["$set": ["title": "blue"], "$inc": .document(bump)])
        try await world.engine.syncUntilQuiet()
        #expect(try await world.todos.status(of: 1).pauseReason == nil)
        #expect(try world.there?["title"] == "red")
    }
}

extension BSONDocument {
    fileprivate var withoutVersionField: BSONDocument {
        var document = self
        document["__stitch_sync_version"] = nil
        return document
    }
}
