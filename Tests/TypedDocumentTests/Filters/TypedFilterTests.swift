import BSONStore
import Foundation
import Testing

/// Without these a typed condition would be another filter than it reads as.
@Suite struct TypedFilterTests {
    /// One group of conditions.
    enum Group: String, CaseIterable, CustomTestStringConvertible {
        case equality, order, membership, logic, text, lists

        var cases: [FilterCase] {
            switch self {
            case .equality: FilterCases.equality
            case .order: FilterCases.order
            case .membership: FilterCases.membership
            case .logic: FilterCases.logic
            case .text: FilterCases.text
            case .lists: FilterCases.lists
            }
        }

        var testDescription: String { rawValue }
    }

    private static let namespace = Namespace("app", "orders")

    @Test(arguments: Group.allCases) func `a typed condition is its BSON`(_ group: Group) throws {
        for one in group.cases {
            let expected = try BSONDocument(extendedJSON: one.json)
            // Read again, since Extended JSON has `$regex` with `$options` for a value.
            let text = try one.filter.bson.extendedJSON(.relaxed)
            let written = try BSONDocument(extendedJSON: text).extendedJSON(.relaxed)
            #expect(written == expected.extendedJSON(.relaxed), "\(text)")
        }
    }

    @Test func `there are at least two hundred of them`() {
        #expect(Group.allCases.map(\.cases.count).reduce(0, +) >= 200)
    }

    @Test(arguments: Group.allCases)
    func `a typed condition finds what its BSON finds`(_ group: Group) throws {
        let store = try DocumentStore(at: .inMemory)
        let orders = store.collection(Self.namespace, of: Order.self)
        try orders.insertMany(Order.samples)
        var found: Set<[Int]> = []
        for one in group.cases {
            let typed = try orders.find { _ in one.filter }.fetch().strict.map(\.id)
            let plain = try orders.documents.find(try BSONDocument(extendedJSON: one.json)).fetch()
            let ids = plain.compactMap { $0["_id"]?.int64Value }
            #expect(typed == ids.map { Int($0) }, "\(one.json)")
            found.insert(typed)
        }
        // The documents tell the conditions apart.
        #expect(found.count >= 4)
    }

    @Test func `a condition holds values as documents store them`() throws {
        let stored = try BSONEncoder().encode(Order.samples[1])
        let fields = Order.fields
        let order = Order.samples[1]
        let conditions: [(path: String, filter: TypedFilter)] = [
            ("_id", fields.id == order.id), ("name", fields.name == order.name),
            ("small", fields.small == order.small), ("rating", fields.rating == order.rating),
            ("price", fields.price == order.price), ("done", fields.done == order.done),
            ("created", fields.created == order.created), ("due", fields.due == order.due),
            ("blob", fields.blob == order.blob), ("token", fields.token == order.token),
            ("link", fields.link == order.link), ("status", fields.status == order.status),
            ("level", fields.level == order.level), ("owner", fields.owner == order.owner),
            ("tags", fields.tags == order.tags), ("address", fields.address == order.address),
            ("lines", fields.lines == order.lines),
        ]
        for (path, filter) in conditions {
            #expect(try filter.bson[path] == stored[path], "\(path)")
        }
    }

    @Test func `conditions follow the strategies of the collection's encoder`() throws {
        struct Page: TypedDocument {
            var id: Int
            var firstSeen: Date
            var hitCount: [String: Int]

            struct Fields: Sendable {
                let id = Field<Int>("id")
                let firstSeen = Field<Date>("firstSeen")
                let hitCount = Field<[String: Int]>("hitCount")
            }
            static var fields: Fields { Fields() }
        }
        let strategies = BSONCodingStrategies(dates: .iso8601, keys: .snakeCase)
        let store = try DocumentStore(at: .inMemory)
        var (encoder, decoder) = (BSONEncoder(), BSONDecoder())
        (encoder.strategies, decoder.strategies) = (strategies, strategies)
        let pages = store.collection(
            Self.namespace, of: Page.self, encoder: encoder, decoder: decoder)
        let seen = Order.start
        try pages.insertOne(Page(id: 1, firstSeen: seen, hitCount: ["aB": 2]))
        #expect(try pages.find { $0.firstSeen == seen }.fetch().count == 1)
        #expect(try pages.find { $0.hitCount["aB"] == 2 }.fetch().count == 1)
        let filter = Page.filter { $0.firstSeen == seen && $0.hitCount["aB"] == 2 }
        #expect(
            try filter.bson(with: encoder)
                == ["first_seen": "2023-11-14T22:13:20.000Z", "hit_count.aB": .int64(2)])
        #expect(throws: StoreError.self) {
            try pages.updateOne({ $0.id == 1 }) { $0.firstSeen.currentDate() }
        }
    }

    @Test func `a missing field counts as in MongoDB`() throws {
        let store = try DocumentStore(at: .inMemory)
        let orders = store.collection(Self.namespace, of: Order.self)
        try orders.documents.insertOne(["_id": 1])
        let holds: [(Bool, TypedFilter)] = [
            (false, Order.fields.complexity <= 4), (false, Order.fields.complexity > 4),
            (true, !(Order.fields.complexity <= 4)), (true, !(Order.fields.complexity > 4)),
            (true, Order.fields.complexity != 4), (true, Order.fields.note == nil),
            (false, Order.fields.note != nil), (false, Order.fields.tags.isEmpty),
            (true, !Order.fields.tags.isEmpty), (true, Order.fields.tags.count < 1),
            (false, Order.fields.tags.count == 0), (true, !Order.fields.done),
        ]
        for (isFound, filter) in holds {
            let json = try filter.bson.extendedJSON(.relaxed)
            #expect(try orders.find { _ in filter }.count() == (isFound ? 1 : 0), "\(json)")
        }
    }

    @Test func `branches and loops of a closure make conditions`() throws {
        func filter(_ name: String?, _ isOpen: Bool, _ tags: [String]) throws -> String {
            try Order.filter { order in
                order.complexity <= 4
                if let name { order.name == name }
                if isOpen { order.status == .open } else { order.status != .open }
                for tag in tags { order.tags.contains(tag) }
            }.bson.extendedJSON(.relaxed)
        }
        #expect(
            try filter(nil, true, []) == #"{"complexity":{"$lte":4},"status":"open"}"#)
        #expect(
            try filter("Ada", false, ["a", "b"])
                == #"{"$and":[{"complexity":{"$lte":4},"name":"Ada","status":{"$ne":"open"},"#
                + #""tags":"a"},{"tags":"b"}]}"#)
    }

    @Test func `what MongoDB cannot express is an error`() throws {
        let outer = Order.fields
        for filter in [
            // Names a field outside of the element.
            Order.filter { $0.lines.contains { _ in outer.complexity == 1 } },
            Order.filter { $0.lines.contains { $0.price == 1 && outer.complexity == 1 } },
            // Tests the element and its fields.
            Order.filter { $0.lines.contains { $0.exists && $0.price == 1 } },
            Order.filter { $0.counters["a.b"] == 1 }, Order.filter { $0.counters[""] == 1 },
            Order.filter { $0.counters["$a"] == 1 }, Order.filter { $0.counters["a\0"] == 1 },
        ] {
            let error = #expect(throws: StoreError.self) { try filter.bson }
            #expect(error?.code == .badValue)
        }
        #expect(throws: EncodingError.self) {
            struct Huge: TypedDocument {
                var size: UInt64
                struct Fields: Sendable { let size = Field<UInt64>("size") }
                static var fields: Fields { Fields() }
            }
            return try Huge.filter { $0.size == UInt64.max }.bson
        }
    }
}
