import BSONStore
import Testing

/// Without these, an old app would delete the fields that a newer one has added.
@Suite struct EncodedChangeTests {
    struct Place: Codable { var city: String? }
    struct Item: Codable {
        // swift-format-ignore: NoLeadingUnderscores
        var _id: Int?
        var name: String
    }

    struct Todo: Codable {
        // swift-format-ignore: NoLeadingUnderscores
        var _id = 1
        var task: String
        var done: Bool?
        var place: Place?
        var items: [Item] = []
        var labels: [String: Int] = [:]
        var raw: BSONDocument?
    }

    private func edit(
        _ original: BSONDocument, _ change: (inout Todo) -> Void
    ) throws -> BSONDocument {
        var todo = try BSONDecoder().decode(Todo.self, from: original)
        change(&todo)
        let result = try BSONEncoder().encode(todo, onto: original)
        #expect(throws: Never.self) { try BSONDocument(validating: result.bytes) }
        return result
    }

    private let original: BSONDocument = [
        "_id": 1, "task": "milk", "secret": ["x": 1], "done": false,
        "place": ["zip": "123", "city": "Rome", "geo": [1.5, 2.5]],
        "items": [
            ["name": "a", "new": 1], ["_id": 7, "name": "b", "new": 2], ["name": "c", "new": 3],
        ],
        "labels": ["red": 1, "blue": 2], "raw": ["k": 1, "l": 2],
    ]

    @Test("nothing changes when the value does not")
    func unchanged() throws {
        #expect(try edit(original) { _ in } == original)
    }

    @Test("known fields change in place, unknown ones stay")
    func known() throws {
        var expected = original
        expected["task"] = "bread"
        expected["place"] = ["zip": "123", "city": "Oslo", "geo": [1.5, 2.5]]
        let result = try edit(original) {
            $0.task = "bread"
            $0.place?.city = "Oslo"
        }
        #expect(result == expected)
    }

    @Test("absent optionals go, at any depth, and only they")
    func absent() throws {
        var expected = original
        expected["done"] = nil
        expected["place"] = ["zip": "123", "geo": [1.5, 2.5]]
        let result = try edit(original) {
            $0.done = nil
            $0.place?.city = nil
        }
        #expect(result == expected)
        #expect(try edit(original) { $0.place = nil }["place"] == nil)
    }

    @Test("new fields are appended")
    func appended() throws {
        let result = try edit(["_id": 1, "task": "t", "items": [], "labels": [:], "z": 1]) {
            $0.done = true
            $0.place = Place(city: nil)
        }
        #expect(
            result == [
                "_id": 1, "task": "t", "items": [], "labels": [:], "z": 1, "done": true,
                "place": [:],
            ])
    }

    @Test("dictionaries and documents are data: they are replaced as a whole")
    func whole() throws {
        let result = try edit(original) {
            $0.labels["red"] = nil
            $0.raw = ["l": 2]
        }
        #expect(result["labels"] == ["blue": 2])
        #expect(result["raw"] == ["l": 2])
    }

    @Test("an array's documents keep unknown fields: by `_id`, by content, by position")
    func arrays() throws {
        let result = try edit(original) {
            $0.items.swapAt(0, 1)
            $0.items[0].name = "B"
            $0.items[2].name = "C"
        }
        #expect(
            result["items"] == [
                ["_id": 7, "name": "B", "new": 2], ["name": "a", "new": 1],
                ["name": "C", "new": 3],
            ])
    }

    @Test("where an array's length changed, changed documents without an identity are new ones")
    func arraysOfAnotherLength() throws {
        let result = try edit(original) {
            $0.items.remove(at: 0)
            $0.items[0].name = "B"
            $0.items[1].name = "C"
        }
        #expect(result["items"] == [["_id": 7, "name": "B", "new": 2], ["name": "C"]])
    }

    @Test("a key that the type declares tells elements apart")
    func elementKeys() throws {
        struct Line: Codable, ArrayElement {
            static let elementKey = "sku"
            var sku: String
            var quantity: Int
        }
        struct Order: Codable { var lines: [Line] }
        let original: BSONDocument = [
            "lines": [
                ["sku": "a", "quantity": 1, "note": "x"], ["sku": "b", "quantity": 2, "note": "y"],
            ]
        ]
        var order = try BSONDecoder().decode(Order.self, from: original)
        order.lines.insert(Line(sku: "c", quantity: 9), at: 0)
        order.lines[1].quantity = 5
        #expect(
            try BSONEncoder().encode(order, onto: original) == [
                "lines": [
                    ["sku": "c", "quantity": .int64(9)],
                    ["sku": "a", "quantity": .int64(5), "note": "x"],
                    ["sku": "b", "quantity": 2, "note": "y"],
                ]
            ])
    }

    /// An order whose lines may all have the same id.
    private struct Basket: Codable {
        struct Line: Codable, Hashable {
            var id: Int
            var name: String

            init(id: Int = 0, name: String) { (self.id, self.name) = (id, name) }

            init(from decoder: any Decoder) throws {
                let fields = try decoder.container(keyedBy: CodingKeys.self)
                id = try fields.decodeIfPresent(Int.self, forKey: .id) ?? 0
                name = try fields.decode(String.self, forKey: .name)
            }
        }

        var lines: [Line] = []
    }

    private func lines(
        _ stored: BSONValue, _ change: (inout Basket) -> Void
    ) throws -> BSONValue? {
        var basket = try BSONDecoder().decode(Basket.self, from: ["lines": stored])
        change(&basket)
        return try BSONEncoder().encode(basket, onto: ["lines": stored])["lines"]
    }

    private let unnumbered: BSONValue = [
        ["name": "a", "note": 1, "gone": .null], ["name": "b", "note": 2],
        ["name": "b", "note": 3],
    ]

    @Test("elements whose id is only a default keep unknown fields: by content, by position")
    func defaultIdentities() throws {
        #expect(
            try lines(unnumbered) { $0.lines[1].name = "B" } == [
                ["name": "a", "note": 1, "gone": .null], ["name": "B", "note": 2],
                ["name": "b", "note": 3],
            ])
        #expect(
            try lines(unnumbered) { $0.lines.remove(at: 1) } == [
                ["name": "a", "note": 1, "gone": .null], ["name": "b", "note": 2],
            ])
        #expect(
            try lines(unnumbered) { $0.lines.append(Basket.Line(name: "c")) } == [
                ["name": "a", "note": 1, "gone": .null], ["name": "b", "note": 2],
                ["name": "b", "note": 3], ["id": .int64(0), "name": "c"],
            ])
    }

    @Test("an element that gets its first id keeps its unknown fields")
    func firstIdentity() throws {
        #expect(
            try lines(unnumbered) { $0.lines[1].id = 7 } == [
                ["name": "a", "note": 1, "gone": .null],
                ["name": "b", "note": 2, "id": .int64(7)], ["name": "b", "note": 3],
            ])
    }

    @Test("elements with repeated ids keep unknown fields, as do those with other ids")
    func repeatedIdentities() throws {
        let stored: BSONValue = [
            ["id": 1, "name": "a", "note": 1], ["id": 1, "name": "b", "note": 2],
            ["id": 2.0, "name": "c", "note": 3],
        ]
        #expect(
            try lines(stored) {
                $0.lines[0].name = "A"
                $0.lines[2].name = "C"
            } == [
                ["id": 1, "name": "A", "note": 1], ["id": 1, "name": "b", "note": 2],
                ["id": 2.0, "name": "C", "note": 3],
            ])
        #expect(
            try lines(stored) {
                $0.lines.swapAt(0, 2)
                $0.lines[0].name = "C"
            } == [
                ["id": 2.0, "name": "C", "note": 3], ["id": 1, "name": "b", "note": 2],
                ["id": 1, "name": "a", "note": 1],
            ])
        // A copy is a new element, and the original stays.
        #expect(
            try lines([["id": 1, "name": "a", "note": 1]]) {
                $0.lines.append(Basket.Line(id: 1, name: "copy"))
            } == [["id": 1, "name": "a", "note": 1], ["id": .int64(1), "name": "copy"]])
    }

    @Test("a set's elements with repeated ids stay, and keep unknown fields")
    func repeatedIdentitiesInSets() throws {
        struct Bag: Codable { var lines: Set<Basket.Line> }
        let original: BSONDocument = ["lines": unnumbered]
        var bag = try BSONDecoder().decode(Bag.self, from: original)
        bag.lines.insert(Basket.Line(name: "c"))
        #expect(
            try BSONEncoder().encode(bag, onto: original)["lines"] == [
                ["name": "a", "note": 1, "gone": .null], ["name": "b", "note": 2],
                ["name": "b", "note": 3], ["id": .int64(0), "name": "c"],
            ])
    }

    @Test("a document that does not decode takes all fields of the value, and keeps unknown ones")
    func undecodable() throws {
        struct Pen: Codable { var color: String, width: Int?, price: Double }
        let original: BSONDocument = ["color": 7, "width": 1, "price": 2, "later": true]
        let pen = Pen(color: "red", width: nil, price: 2)
        #expect(
            try BSONEncoder().encode(pen, onto: original)
                == ["color": "red", "price": 2, "later": true])
    }

    @Test("equal numbers keep their width, others take the type's")
    func widths() throws {
        struct Numbers: Codable { var a: Int, b: Int, c: [Double] }
        let original: BSONDocument = ["a": 1, "b": 2.0, "c": [1, 2]]
        var value = try BSONDecoder().decode(Numbers.self, from: original)
        value.b = 3
        value.c[1] = 2.5
        #expect(
            try BSONEncoder().encode(value, onto: original)
                == ["a": 1, "b": .int64(3), "c": [1, 2.5]])
    }
}
