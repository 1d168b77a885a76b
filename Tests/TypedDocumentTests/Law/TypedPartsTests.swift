import BSONStore
import Foundation
import StitchSync
import Testing

/// Values that consist of several fields.
///
/// They are parts of a struct that is not stored yet, cases of enums, and elements that a decoder skips.
/// Written field by field they would lose an edit, or become a document that no app decodes (rule
/// R15).
@Suite struct TypedPartsTests {
    /// All fields have defaults, as those of a `@Document` type.
    struct Address: Codable, Sendable, Equatable {
        var city = ""
        var street = ""

        init() {}

        init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            city = try fields.decodeIfPresent(String.self, forKey: .city) ?? ""
            street = try fields.decodeIfPresent(String.self, forKey: .street) ?? ""
        }
    }

    /// Decodes only with both fields.
    struct Size: Codable, Sendable, Equatable {
        var width = 1
        var height = 1
    }

    enum Shape: Codable, Sendable, Equatable {
        case circle(radius: Int, color: String)
        case label(String)
        case point
    }

    /// Written by hand: one field, named by the case.
    enum Content: Codable, Sendable, Equatable {
        case text(String)
        case image(Int)
        case unknown

        enum CodingKeys: String, CodingKey { case text, image, unknown }

        init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            if let text = try fields.decodeIfPresent(String.self, forKey: .text) {
                self = .text(text)
            } else if let image = try fields.decodeIfPresent(Int.self, forKey: .image) {
                self = .image(image)
            } else {
                self = .unknown
            }
        }

        func encode(to encoder: any Encoder) throws {
            var fields = encoder.container(keyedBy: CodingKeys.self)
            switch self {
            case .text(let text): try fields.encode(text, forKey: .text)
            case .image(let image): try fields.encode(image, forKey: .image)
            case .unknown: try fields.encode(true, forKey: .unknown)
            }
        }
    }

    struct Item: Codable, Sendable, Equatable {
        var name: String
        var count = 0
    }

    /// Skips elements of other kinds, as many apps do.
    struct Items: Codable, Sendable, Equatable {
        var values: [Item]

        private struct Lossy: Decodable {
            let item: Item?

            init(from decoder: any Decoder) throws {
                do { item = try Item(from: decoder) } catch { item = nil }
            }
        }

        init(_ values: [Item]) { self.values = values }

        init(from decoder: any Decoder) throws {
            values = try [Lossy](from: decoder).compactMap(\.item)
        }

        func encode(to encoder: any Encoder) throws { try values.encode(to: encoder) }
    }

    struct Drawing: Codable, Sendable, Equatable {
        var id: Int
        var address = Address()
        var size = Size()
        var shape = Shape.point
        var content: Content?
        var frame: Frame?
        var items = Items([])

        struct Frame: Codable, Sendable, Equatable {
            var title: String
            var shape: Shape
        }

        enum CodingKeys: String, CodingKey {
            case id = "_id"
            case address, size, shape, content, frame, items
        }

        init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            id = try fields.decode(Int.self, forKey: .id)
            address = try fields.decodeIfPresent(Address.self, forKey: .address) ?? Address()
            size = try fields.decodeIfPresent(Size.self, forKey: .size) ?? Size()
            shape = try fields.decodeIfPresent(Shape.self, forKey: .shape) ?? .point
            content = try fields.decodeIfPresent(Content.self, forKey: .content)
            frame = try fields.decodeIfPresent(Frame.self, forKey: .frame)
            items = try fields.decodeIfPresent(Items.self, forKey: .items) ?? Items([])
        }
    }

    private static let namespace = Namespace("app", "drawings")

    /// Two devices that have one document.
    private struct World {
        let remote: InProcessRemote
        let engines: [SyncEngine]
        let drawings: [SyncCollection<Drawing>]

        init(
            _ document: BSONDocument, _ handler: ConflictHandler<Drawing> = .mergeFields()
        ) async throws {
            let remote = try InProcessRemote(at: .inMemory)
            try await remote.store.collection(namespace).insertOne(document)
            self.remote = remote
            engines = try (0..<2).map { _ in
                try SyncEngine(store: try DocumentStore(at: .inMemory), remote: remote)
            }
            drawings = engines.map { $0.collection(namespace, of: Drawing.self) }
            for index in 0..<2 {
                await drawings[index].configure(conflictHandler: handler)
                try await drawings[index].sync(ids: [1])
                try await engines[index].syncUntilQuiet()
            }
        }

        /// Lets both devices edit the document, the second without having seen the first's edit.
        func edit(
            _ first: @escaping @Sendable (inout Drawing) -> Void,
            _ second: @escaping @Sendable (inout Drawing) -> Void
        ) async throws {
            try await drawings[0].modify(id: 1, first)
            try await drawings[1].modify(id: 1, second)
            for _ in 0..<2 { for engine in engines { try await engine.syncUntilQuiet() } }
        }

        /// Returns the document that both devices and the remote have.
        func common(sourceLocation: SourceLocation = #_sourceLocation) throws -> BSONDocument? {
            var there = try remote.store.collection(namespace).findOne(id: 1)
            there?["__stitch_sync_version"] = nil
            for engine in engines {
                let here = try engine.collection(namespace).findOne(id: 1)
                #expect(here == there, sourceLocation: sourceLocation)
            }
            return there
        }
    }

    // MARK: - Defaults

    @Test(
        "two devices fill different fields of a struct that is not stored",
        arguments: [nil, BSONValue.null])
    func defaults(stored: BSONValue?) async throws {
        var document: BSONDocument = ["_id": 1]
        if let stored { document["address"] = stored }
        let world = try await World(document)
        try await world.edit({ $0.address.street = "Main" }, { $0.address.city = "Rome" })
        let merged = try #require(try world.common()?["address"]?.documentValue)
        #expect(merged["street"] == "Main" && merged["city"] == "Rome" && merged.count == 2)
    }

    @Test func `a struct that decodes only with all fields is written whole`() throws {
        let coding = DocumentCoding<Drawing>()
        var drawing = try coding.decode(["_id": 1])
        let edition = try coding.edition(drawing, ["_id": 1])
        drawing.size.width = 5
        let expected: BSONDocument = ["width": .int64(5), "height": .int64(1)]
        #expect(
            try coding.change(drawing, [edition]) == ["_id": 1, "size": .document(expected)])
    }

    // MARK: - Enums

    @Test func `two cases of an enum are no merge that nobody decodes`() async throws {
        let circle: BSONDocument = ["circle": ["radius": 1, "color": "red"]]
        let world = try await World(["_id": 1, "shape": .document(circle)])
        try await world.edit({ $0.shape = .point }, { $0.shape = .label("x") })
        // The remote wins where both set one field.
        #expect(try world.common()?["shape"] == ["point": [:]])
        try await world.edit({ $0.shape = .circle(radius: 1, color: "a") }, { _ in })
        try await world.edit(
            { $0.shape = .circle(radius: 2, color: "a") }, { $0.shape = .label("x") })
        #expect(
            try world.common()?["shape"] == ["circle": ["radius": .int64(2), "color": "a"]])
        // Fields of one payload still merge.
        try await world.edit(
            { $0.shape = .circle(radius: 3, color: "a") },
            { $0.shape = .circle(radius: 2, color: "b") })
        #expect(
            try world.common()?["shape"] == ["circle": ["radius": .int64(3), "color": "b"]])
    }

    @Test func `an enum that cannot be merged takes no neighbour with it`() async throws {
        let world = try await World(
            [
                "_id": 1, "frame": ["title": "a", "shape": ["point": [:]]],
                "size": ["width": 1, "height": 1],
            ])
        try await world.edit(
            { $0.frame?.shape = .circle(radius: 1, color: "c") },
            {
                $0.frame?.shape = .label("x")
                $0.frame?.title = "b"
                $0.size.height = 4
            })
        let merged = try #require(try world.common())
        let shape: BSONValue = ["circle": ["radius": .int64(1), "color": "c"]]
        #expect(merged["frame"]?.documentValue?["title"] == "b")
        #expect(merged["frame"]?.documentValue?["shape"] == shape)
        #expect(merged["size"]?.documentValue?["height"] == .int64(4))
    }

    @Test func `a closure that decides gets a merge that decodes`() async throws {
        let world = try await World(
            ["_id": 1, "shape": ["point": [:]]],
            .mergeFields { drawing, conflict in
                guard case .label? = conflict.local?.shape else { return }
                drawing.shape = .label("decided")
            })
        try await world.edit(
            { $0.shape = .circle(radius: 1, color: "c") }, { $0.shape = .label("x") })
        #expect(try world.common()?["shape"] == ["label": ["_0": "decided"]])
    }

    @Test("another case replaces one that the type does not know", arguments: ["shape", "content"])
    func unknownCase(field: String) async throws {
        let stored: BSONDocument = ["_id": 1, field: ["newer": ["a": 1]], "later": 7]
        let store = try DocumentStore(at: .inMemory)
        let drawings = store.collection(Self.namespace, of: Drawing.self)
        try await drawings.documents.insertOne(stored)
        var drawing = try DocumentCoding<Drawing>().decode(["_id": 1])
        drawing.shape = .label("x")
        drawing.content = .text("x")
        try await drawings.replaceOne(["_id": 1], drawing)
        let written = try #require(try drawings.documents.findOne(id: 1))
        #expect(written["later"] == 7)
        #expect(written["shape"] == ["label": ["_0": "x"]])
        #expect(written["content"] == ["text": "x"])
    }

    @Test func `an edit replaces a case that decodes as unknown`() async throws {
        let store = try DocumentStore(at: .inMemory)
        let drawings = store.collection(Self.namespace, of: Drawing.self)
        try await drawings.documents.insertOne(["_id": 1, "content": ["video": 5]])
        try drawings.modify(id: 1) { $0.size.width = 2 }
        #expect(try drawings.documents.findOne(id: 1)?["content"] == ["video": 5])
        try drawings.modify(id: 1) { $0.content = .image(3) }
        #expect(try drawings.documents.findOne(id: 1)?["content"] == ["image": .int64(3)])
    }

    // MARK: - Elements

    /// An array, an edit, and the array that is stored then; `?` is an element that the type skips.
    struct ElementsCase: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let stored: String
        let edit: @Sendable (inout [Item]) -> Void
        let expected: String

        init(
            _ stored: String, _ edit: @escaping @Sendable (inout [Item]) -> Void,
            _ expected: String
        ) {
            testDescription = "\(stored) -> \(expected)"
            self.stored = stored
            self.edit = edit
            self.expected = expected
        }
    }

    static let elementCases = [
        ElementsCase("a ? b", { $0[0].count = 5 }, "a5 ? b"),
        ElementsCase("a ? b", { $0[1].count = 5 }, "a ? b5"),
        ElementsCase("? a b", { $0[1].count = 5 }, "? a b5"),
        ElementsCase("a b ? ?", { $0.reverse() }, "b ? ? a"),
        ElementsCase("a ? b", { $0.remove(at: 0) }, "? b"),
        ElementsCase("a ? b", { $0.removeAll() }, "?"),
        ElementsCase("a ? b", { $0.append(Item(name: "c")) }, "a ? b +c"),
        ElementsCase("a a ?", { $0[1].count = 5 }, "a a5 ?"),
        ElementsCase("a ? a", { $0.removeLast() }, "a ?"),
        // An element that moved and changed is the only one left.
        ElementsCase(
            "a b",
            {
                $0.reverse(); $0[0].count = 5
            }, "b5 a"),
        ElementsCase(
            "a b c",
            {
                $0.swapAt(0, 2); $0[2].count = 5
            }, "c b a5"),
        ElementsCase(
            "a ? b",
            {
                $0.reverse(); $0[0].count = 5
            }, "b5 a ?"),
    ]

    @Test("skipped and moved elements keep what the type does not know", arguments: elementCases)
    func elements(_ test: ElementsCase) async throws {
        let store = try DocumentStore(at: .inMemory)
        let drawings = store.collection(Self.namespace, of: Drawing.self)
        try await drawings.documents.insertOne(
            ["_id": 1, "items": .array(Self.array(test.stored))])
        try drawings.modify(id: 1) { test.edit(&$0.items.values) }
        let written = try drawings.documents.findOne(id: 1)?["items"]?.arrayValue
        #expect(written == Self.array(test.expected))
    }

    /// Makes elements with an unknown field from their names; `+` is a new one, `a5` one with a count.
    private static func array(_ text: String) -> BSONArray {
        BSONArray(
            text.split(separator: " ").map { word in
                guard word != "?" else { return ["newer": "kind"] }
                let isNew = word.hasPrefix("+")
                let name = String(isNew ? word.dropFirst() : word.prefix(1))
                var element: BSONDocument = ["name": .string(name)]
                let count = word.dropFirst().first?.wholeNumberValue
                // The test stores int32, the encoder writes int64.
                element["count"] = count.map { .int64(Int64($0)) } ?? (isNew ? .int64(0) : 0)
                if !isNew { element["note"] = .string("of \(name)") }
                return .document(element)
            })
    }

    @Test func `an element without fields takes no place of another one in a set`() throws {
        struct Part: Codable, Sendable, Hashable {
            var content = Data()

            init(content: Data) { self.content = content }

            init(from decoder: any Decoder) throws {
                let fields = try decoder.container(keyedBy: CodingKeys.self)
                content = try fields.decodeIfPresent(Data.self, forKey: .content) ?? Data()
            }
        }
        struct Machine: Codable, Sendable {
            var parts: Set<Part>
        }
        // Another program's binaries have no form that the type writes; {} decodes as the default.
        let foreign = [Data([1]), Data([2]), Data([3])]
        let stored: [BSONValue] =
            [[:]]
            + foreign.map {
                ["content": .binary(BSONBinary(Array($0), subtype: 0x80)), "note": "newer"]
            }
        let document: BSONDocument = ["_id": 1, "parts": .array(BSONArray(stored))]
        let coding = DocumentCoding<Machine>()
        var machine = try coding.decode(document)
        let edition = try coding.edition(machine, document)
        machine.parts.insert(Part(content: Data([4])))
        let written = try coding.change(machine, [edition])
        #expect(try coding.decode(written).parts == machine.parts)
        let parts = try #require(written["parts"]?.arrayValue)
        #expect(Array(parts.prefix(4)) == stored, "what stays keeps its bytes")
    }

    @Test func `a decoder that sorts elements mixes none of them`() async throws {
        struct Sorted: Codable, Sendable {
            var id: Int
            var items: [Item]

            enum CodingKeys: String, CodingKey {
                case id = "_id"
                case items
            }

            init(from decoder: any Decoder) throws {
                let fields = try decoder.container(keyedBy: CodingKeys.self)
                id = try fields.decode(Int.self, forKey: .id)
                items = try fields.decode([Item].self, forKey: .items)
                    .sorted { $0.name < $1.name }
            }
        }
        let store = try DocumentStore(at: .inMemory)
        let sorted = store.collection(Self.namespace, of: Sorted.self)
        try await sorted.documents.insertOne(
            ["_id": 1, "items": .array(Self.array("c a b"))])
        try sorted.modify(id: 1) { $0.items[2].count = 5 }
        let written = try sorted.documents.findOne(id: 1)?["items"]?.arrayValue
        #expect(written == Self.array("a b c5"))
    }

    // MARK: - Fields of the document

    @Test(
        "typed replacements keep fields with a dollar and empty timestamps", arguments: [1, 2, 3])
    func foreignFields(way: Int) async throws {
        let stored: BSONDocument = [
            "_id": 1, "$x": ["a": 1], "stamp": .timestamp(BSONTimestamp(seconds: 0, increment: 0)),
        ]
        let store = try DocumentStore(at: .inMemory)
        let drawings = store.collection(Self.namespace, of: Drawing.self)
        let remote = try InProcessRemote(at: .inMemory)
        let engine = try SyncEngine(store: try DocumentStore(at: .inMemory), remote: remote)
        let synced = engine.collection(Self.namespace, of: Drawing.self)
        for place in [store, remote.store] {
            try await place.write { transaction in
                try transaction.insert(Self.namespace, stored)
            }
        }
        try await synced.sync(ids: [1])
        try await engine.syncUntilQuiet()
        var drawing = try #require(try drawings.findOne(id: 1))
        let read = drawing
        drawing.size.width = 2
        switch way {
        case 1:
            try await drawings.replaceOne(["_id": 1], drawing)
            try await synced.replaceOne(["_id": 1], drawing)
        case 2:
            try await drawings.replaceOne(["_id": 1], drawing, from: read)
            try await synced.replaceOne(["_id": 1], drawing, from: read)
        default:
            try await drawings.findOneAndReplace(["_id": 1], drawing)
            try await synced.findOneAndReplace(["_id": 1], drawing)
        }
        try await engine.syncUntilQuiet()
        for place in [store, engine.store, remote.store] {
            let written = try place.collection(Self.namespace).findOne(id: 1)
            #expect(written?["$x"] == stored["$x"])
            #expect(written?["stamp"] == stored["stamp"])
            #expect(written?["size"] == ["width": .int64(2), "height": .int64(1)])
        }
    }
}
