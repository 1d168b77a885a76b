import BSONStore
import Foundation
import Testing

/// Without these a typed sort, projection, index or pipeline would name another field.
@Suite struct TypedReadingTests {
    private struct Name: Codable, Equatable { var name: String }
    private struct Total: Codable, Equatable {
        var done: Bool
        var count: Int

        enum CodingKeys: String, CodingKey { case done = "_id", count }
    }

    private static func orders() throws -> DocumentCollection<Order> {
        let store = try DocumentStore(at: .inMemory)
        let orders = store.collection(Namespace("app", "orders"), of: Order.self)
        try orders.insertMany(Order.samples)
        return orders
    }

    @Test func `sorts and projections are their BSON`() throws {
        let sort = Order.sort {
            $0.price.descending; $0.address.city.ascending
        }
        #expect(try sort.bson == ["price": -1, "address.city": 1])
        let projection = Order.projection {
            $0.name.included; $0.id.excluded
        }
        #expect(try projection.bson == ["name": 1, "_id": 0])
        #expect(try Order.fields.address.geo.lat.path() == "address.geo.lat")
    }

    @Test func `a sort orders what is found, and skip and limit cut it`() throws {
        let orders = try Self.orders()
        let byCity = try orders.find { _ in
            .all
        }.sort {
            $0.address.city.descending
            $0.complexity.descending
        }.fetch()
        #expect(byCity.map(\.id) == [3, 1, 2])
        let second = try orders.find { _ in
            .all
        }.sort(\.price, .descending).skip(1).limit(1).fetch()
        #expect(second.map(\.id) == [2])
        #expect(try orders.find { $0.done }.sort { $0.id.descending }.first()?.id == 3)
        #expect(try orders.find { $0.complexity > 100 }.first() == nil)
        #expect(try orders.find { $0.tags.contains("home") }.count() == 2)
        #expect(throws: StoreError.self) { try orders.find { $0.done }.limit(-1).fetch() }
    }

    @Test func `a projection returns values of another type`() throws {
        let names = try Self.orders().find {
            $0.done
        }.sort(\.id, .descending).project {
            $0.name.included
        }.decoded(as: Name.self).fetch()
        #expect(names == [Name(name: "ada"), Name(name: "Bob (old)")])
    }

    @Test func `distinct values have the field's type, or that of its elements`() throws {
        let orders = try Self.orders()
        #expect(Set(try orders.find().distinct(\.status)) == [.open, .paid, .sent])
        #expect(Set(try orders.find().distinct(\.tags)) == ["home", "red", "work", "a.b"])
        #expect(try orders.find { $0.id == 2 }.distinct(\.address.city) == ["Bergen"])
    }

    @Test func `a pipeline begins with the condition`() throws {
        let large = try Order.filter { $0.complexity > 1 }.bson
        let totals = try Self.orders().aggregate(
            [
                ["$match": .document(large)],
                ["$group": ["_id": "$done", "count": ["$sum": 1]]],
            ], as: Total.self)
        #expect(totals == [Total(done: true, count: 2)])
    }

    @Test func `an index on fields serves conditions on them`() throws {
        let orders = try Self.orders()
        let name = try orders.createIndex(["unique": true]) {
            $0.owner.ascending
            $0.address.city.descending
        }
        #expect(name == "owner_1_address.city_-1")
        let filter = try Order.filter { $0.owner == Order.firstOwner }.bson
        let plan = try orders.documents.find(filter).explain()
        #expect(plan.extendedJSON(.relaxed).contains(name))
    }

    @Test func `replaces and deletes take typed conditions`() async throws {
        let orders = try Self.orders()
        try await orders.documents.updateOne(["_id": 1], ["$set": ["colour": "red"]])
        var order = try #require(try orders.find { $0.id == 1 }.first())
        order.name = "Eve"
        try await orders.replaceOne(["_id": 1], order)
        #expect(try orders.documents.findOne(id: 1)?["colour"] == "red")
        #expect(try orders.find { $0.name == "Eve" }.first() == order)
        let before = try await orders.findOneAndUpdate({ $0.done }) {
            $0.name.set("x")
        } sort: {
            $0.id.descending
        }
        #expect(before?.name == "ada")
        let after = try await orders.findOneAndUpdate({ $0.id == 3 }, returnsAfter: true) {
            $0.name.set("y")
        }
        #expect(after?.name == "y")
        #expect(try await orders.findOneAndDelete { $0.name == "y" }?.id == 3)
        #expect(try await orders.deleteOne { $0.done } == 1)
        #expect(try await orders.find().delete() == 1)
        #expect(try orders.find().count() == 0)
    }
}
