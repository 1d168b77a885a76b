import BSONStore
import Foundation
import StitchSync

/// An order with lines, as an app declares it.
struct SweptOrder: TypedDocument, Equatable {
    /// A line of an order.
    struct Line: Codable, Sendable, Equatable {
        var id: Int
        var name: String
        var quantity: Int
    }

    /// The names of the fields in conditions.
    struct Fields: Sendable {
        let id = Field<Int>("_id")
        let title = Field<String>("title")
        let votes = Field<Int>("votes")
        let tags = Field<Set<String>>("tags")
    }

    enum CodingKeys: String, CodingKey { case id = "_id", title, votes, tags, lines, values }

    static var fields: Fields { Fields() }

    var id: Int
    var title: String
    var votes: Int
    var tags: Set<String> = []
    var lines: [Line] = []
    var values: [String: Int] = [:]

    /// Makes an order without lines.
    init(_ number: Int) { (id, title, votes) = (number, "order \(number)", number) }

    /// Returns so many orders.
    static func many(_ count: Int) -> [SweptOrder] { (0..<count).map { SweptOrder($0) } }

    /// Returns an order of so many lines.
    static func long(_ count: Int) -> SweptOrder {
        var order = SweptOrder(1)
        order.lines = (0..<count).map { Line(id: $0, name: "line \($0)", quantity: 1) }
        return order
    }
}

/// The calls of typed collections, and merging.
enum TypedRoads {
    private static func orders(
        _ orders: [SweptOrder]
    ) async throws -> DocumentCollection<SweptOrder> {
        let items = try Sample.store().collection(Sample.namespace, of: SweptOrder.self)
        if !orders.isEmpty { try await items.insertMany(orders) }
        return items
    }

    private static func filled(
        _ name: String, upTo: Int = 8_000,
        _ run: @escaping (DocumentCollection<SweptOrder>, Int) async throws -> Void
    ) -> Road {
        Road("typed: \(name)", .documents, upTo: upTo) { n in
            let items = try await orders(SweptOrder.many(n))
            return Trip { try await run(items, n) }
        }
    }

    /// Changes one order of n parts by `modify`.
    private static func modify(
        _ name: String, _ growth: Road.Growth, upTo: Int = 16_000,
        _ order: @escaping (Int) -> SweptOrder,
        _ change: @escaping @Sendable (inout SweptOrder, Int) -> Void
    ) -> Road {
        Road(once: "typed: modify \(name)", growth, upTo: upTo) { n in
            let items = try await orders([order(n)])
            return Trip { try items.modify(id: 1) { change(&$0, n) } }
        }
    }

    /// The roads.
    static var all: [Road] { collections + modifying + merging }

    private static var collections: [Road] {
        [
            Road(once: "typed: insertMany", .documents, upTo: 8_000) { n in
                let (items, orders) = (try await orders([]), SweptOrder.many(n))
                return Trip { try await items.insertMany(orders) }
            },
            filled("find") { items, _ in _ = try items.find().fetch() },
            filled("find by a condition") { items, n in
                _ = try items.find { $0.votes >= n / 2 }.fetch()
            },
            filled("find in many values") { items, n in
                let wanted = Array(0..<n)
                _ = try items.find { $0.votes.in(wanted) }.fetch()
            },
            filled("forEach") { items, _ in _ = try items.find().forEach { (_: SweptOrder) in } },
            Road(once: "typed: modify each document", .documents, upTo: 4_000) { n in
                let items = try await orders(SweptOrder.many(n))
                return Trip {
                    for number in 0..<n { try items.modify(id: .int(number)) { $0.votes += 1 } }
                }
            },
            Road(once: "typed: replaceOne each document", .documents, upTo: 4_000) { n in
                let items = try await orders(SweptOrder.many(n))
                return Trip {
                    for number in 0..<n {
                        var order = SweptOrder(number)
                        order.votes = -1
                        try await items.replaceOne(["_id": .int(number)], order)
                    }
                }
            },
            Road(once: "typed: replaceOne from an older value", .documents, upTo: 4_000) { n in
                let items = try await orders(SweptOrder.many(n))
                return Trip {
                    for number in 0..<n {
                        let read = SweptOrder(number)
                        var order = read
                        order.votes = -1
                        try await items.replaceOne(["_id": .int(number)], order, from: read)
                    }
                }
            },
            Road(once: "typed: updateMany", .documents, upTo: 8_000) { n in
                let items = try await orders(SweptOrder.many(n))
                return Trip {
                    try await items.find { $0.votes >= 0 }.update { $0.votes.increment() }
                }
            },
            Road(once: "typed: observe, first snapshot and a change", .documents, upTo: 8_000) {
                n in
                let items = try await orders(SweptOrder.many(n))
                var snapshots = try items.find().observe().makeAsyncIterator()
                return Trip {
                    _ = try await snapshots.next()
                    try items.modify(id: 0) { $0.votes = -1 }
                    _ = try await snapshots.next()
                }
            },
        ]
    }

    private static var modifying: [Road] {
        [
            modify("one line of many", .elements, SweptOrder.long) { order, n in
                order.lines[n / 2].quantity = 5
            },
            modify("all lines", .elements, SweptOrder.long) { order, _ in
                for index in order.lines.indices { order.lines[index].quantity = 5 }
            },
            modify("the order of lines", .elements, SweptOrder.long) { order, _ in
                order.lines.reverse()
            },
            modify("by removing half the lines", .elements, SweptOrder.long) { order, _ in
                order.lines.removeAll { $0.id % 2 == 0 }
            },
            modify("by a line in front", .elements, SweptOrder.long) { order, _ in
                order.lines.insert(.init(id: -1, name: "new", quantity: 1), at: 0)
            },
            modify(
                "a set", .elements,
                { n in
                    var order = SweptOrder(1)
                    order.tags = Set(Sample.names(n))
                    return order
                }
            ) { order, n in order.tags.formUnion((n..<2 * n).map { "f\($0)" }) },
            modify(
                "a dictionary", .fields,
                { n in
                    var order = SweptOrder(1)
                    order.values = Dictionary(uniqueKeysWithValues: Sample.names(n).map { ($0, 1) })
                    return order
                }
            ) { order, _ in for key in order.values.keys { order.values[key] = 2 } },
            modify("nothing", .elements, SweptOrder.long) { _, _ in },
            Road(once: "typed: replaceOne, lines with unknown fields", .elements, upTo: 16_000) {
                n in
                let items = try await orders([SweptOrder.long(n)])
                try await items.documents.updateOne(["_id": 1], ["$set": ["lines.$[].note": "x"]])
                var order = SweptOrder.long(n)
                for index in order.lines.indices { order.lines[index].quantity = 7 }
                let changed = order
                return Trip { try await items.replaceOne(["_id": 1], changed) }
            },
        ]
    }

    private static func merge(
        _ name: String, _ growth: Road.Growth, _ merge: ThreeWayMerge = ThreeWayMerge(),
        upTo: Int = 16_000,
        _ editions:
            @escaping (Int) -> (base: BSONDocument, local: BSONDocument, remote: BSONDocument)
    ) -> Road {
        Road("merge: \(name)", growth, upTo: upTo) { n in
            let (base, local, remote) = editions(n)
            return Trip { merge.merge(base: base, local: local, remote: remote) }
        }
    }

    private static var merging: [Road] {
        [
            merge("fields that each side changed half of", .fields) { n in
                (
                    Sample.wide(n), Sample.wide(n) { .int($0 < n / 2 ? -1 : $0) },
                    Sample.wide(n) { .int($0 < n / 2 ? $0 : -2) }
                )
            },
            merge("fields that both sides changed", .fields) { n in
                (Sample.wide(n), Sample.wide(n) { _ in -1 }, Sample.wide(n) { _ in -2 })
            },
            merge("fields that both sides added", .fields) { n in
                (
                    ["_id": 1], Sample.wide(n),
                    BSONDocument([("_id", 1)] + Sample.names(n).map { ("r\($0)", 1) })
                )
            },
            merge("fields that one side removed", .fields) { n in
                (Sample.wide(n), ["_id": 1], Sample.wide(n))
            },
            merge("counters", .fields, ThreeWayMerge(counters: Set(Sample.names(20_000)))) { n in
                (Sample.wide(n), Sample.wide(n) { .int($0 + 1) }, Sample.wide(n) { .int($0 + 2) })
            },
            merge("arrays as sets", .elements, ThreeWayMerge(arrays: ["a"])) { n in
                (
                    ["_id": 1, "a": Sample.array(n)], ["_id": 1, "a": Sample.array(2 * n)],
                    ["_id": 1, "a": Sample.array(n / 2)]
                )
            },
            merge("arrays of documents as sets", .elements, ThreeWayMerge(arrays: ["a"])) { n in
                func lines(_ range: Range<Int>) -> BSONDocument {
                    ["_id": 1, "a": .array(BSONArray(range.map { ["id": .int($0), "x": 1] }))]
                }
                return (lines(0..<n), lines(0..<2 * n), lines(n / 2..<n))
            },
        ]
    }
}
