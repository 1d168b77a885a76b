import BSONStore
import Testing

@testable import StitchSync

/// A set that loses a subscription loses its documents.
struct SubscriptionSetTests {
    private static let items = Namespace("shop", "items")
    private static let users = Namespace("shop", "users")

    /// Commits changes one after the other.
    private struct Book {
        var history = SubscriptionHistory()
        var time: Int64 = 0
        private let numbers = Numbers()

        final class Numbers {
            var last: UInt8 = 0

            func next() -> BSONObjectID {
                last += 1
                return BSONObjectID(bytes: [UInt8](repeating: last, count: 12)) ?? BSONObjectID()
            }
        }

        /// Lets something happen to a version that can, or cannot, happen to it.
        mutating func apply(_ event: SubscriptionEvent, to version: Int64, _ canBe: Bool) {
            let couldBe = history.apply(event, to: version)
            #expect(couldBe == canBe, "\(event) of \(version)")
        }

        @discardableResult
        mutating func change(
            _ body: (inout SubscriptionChanges) throws -> Void
        ) rethrows -> SubscriptionSet {
            time += 1
            var changes = SubscriptionChanges(
                of: history.latest, now: BSONDatetime(milliseconds: time),
                makeID: numbers.next)
            try body(&changes)
            return history.commit(changes)
        }
    }

    private static func query(
        _ filter: BSONDocument, _ namespace: Namespace = items
    ) throws -> SubscriptionQuery {
        try SubscriptionQuery(namespace, filter)
    }

    @Test("An equal query without a name is noted again, and beside a name it is another one")
    func assigning() throws {
        var book = Book()
        let small = try Self.query(["n": ["$lte": 4]])
        let set = book.change {
            let areNew = [
                $0.insertOrAssign(small).isNew, $0.insertOrAssign(small).isNew,
                $0.insertOrAssign(small, named: "").isNew,
                $0.insertOrAssign(small, named: "simple").isNew,
            ]
            #expect(areNew == [true, false, true, true])
        }
        #expect(set.subscriptions.map(\.name) == [nil, "", "simple"])
        #expect(set.queries(of: Self.items) == [small])
        let id = set.first(named: "simple")?.id
        let large = try Self.query(["n": ["$gt": 4]], Self.users)
        let next = book.change {
            let isNew = $0.insertOrAssign(large, named: "simple").isNew
            #expect(!isNew)
        }
        #expect(next.first(named: "simple")?.id == id)
        #expect(next.first(named: "simple")?.query == large)
        #expect(next.first(named: "simple")?.createdAt.milliseconds == 1)
        #expect(next.first(named: "simple")?.updatedAt.milliseconds == 2)
        #expect(next.first(with: small)?.name == nil)
    }

    @Test("A changed query keeps the time at which its documents are shown, unless it is named")
    func shows() throws {
        var book = Book()
        let (one, two) = (try Self.query(["n": 1]), try Self.query(["n": 2]))
        let made = try book.change {
            try $0.append(one, named: "a", shows: .asTheyArrive)
            try $0.append(one, named: "b")
            $0.insertOrAssign(two, shows: .asTheyArrive)
        }
        #expect(made.subscriptions.map(\.shows) == [.asTheyArrive, .together, .asTheyArrive])
        let next = try book.change {
            try $0.update(named: "a", to: two)
            $0.insertOrAssign(one, named: "b", shows: .asTheyArrive)
            $0.insertOrAssign(two)
        }
        #expect(next.subscriptions.map(\.shows) == [.asTheyArrive, .asTheyArrive, .asTheyArrive])
        let last = book.change { $0.insertOrAssign(one, named: "b", shows: .together) }
        #expect(last.first(named: "b")?.shows == .together)
        #expect(last.first(named: "b") != next.first(named: "b"))
    }

    @Test("A taken name is refused by append, and a query of another collection by update")
    func refusals() throws {
        var book = Book()
        let all = try Self.query([:])
        try book.change { changes in
            try changes.append(all, named: "a")
            let other = try Self.query([:], Self.users)
            let refused: [(inout SubscriptionChanges) throws -> Void] = [
                { try $0.append(all, named: "a") }, { try $0.update(named: "b", to: all) },
                { try $0.update(named: "a", to: other) },
            ]
            for change in refused {
                var copy = changes
                #expect(throws: StoreError.self) { try change(&copy) }
                #expect(copy.subscriptions == changes.subscriptions)
            }
            try changes.update(named: "a", to: try Self.query(["n": 1]))
        }
        #expect(book.history.latest.first(named: "a")?.query.filter == ["n": 1])
        #expect(book.history.latest.subscriptions.count == 1)
    }

    @Test("Subscriptions are removed by name, query, id, collection, namelessness, and all")
    func removing() throws {
        var book = Book()
        let (one, two) = (try Self.query(["n": 1]), try Self.query(["n": 2]))
        let other = try Self.query([:], Self.users)
        let full = book.change {
            $0.insertOrAssign(one, named: "one")
            $0.insertOrAssign(one)
            $0.insertOrAssign(two)
            $0.insertOrAssign(two, named: "two")
            $0.insertOrAssign(other)
        }
        /// What is left of the full set, and what the change told.
        func left<R>(_ body: (inout SubscriptionChanges) -> R) -> ([String], R) {
            book.change { $0.import(full) }
            var told: [R] = []
            let set = book.change { told.append(body(&$0)) }
            let names = set.subscriptions.map {
                ($0.name ?? "-") + $0.query.filter.extendedJSON(.relaxed)
            }
            return (names, told[0])
        }
        let names = left { _ in }.0
        let named = left { $0.remove(named: "one") }
        let absent = left { $0.remove(named: "none") }
        let unnamedFirst = left { $0.remove(one) }
        let untilNone = left { [$0.remove(one), $0.remove(one), $0.remove(one)] }
        let byID = left { $0.remove(id: full.subscriptions[2].id) }
        let ofUsers = left { $0.removeAll(of: Self.users) }
        let unnamed = left { $0.removeAll(unnamedOnly: true) }
        let unnamedItems = left { $0.removeAll(of: Self.items, unnamedOnly: true) }
        let all = left { $0.removeAll() }
        #expect(names.count == 5)
        #expect(named == (Array(names[1...]), true))
        #expect(absent == (names, false))
        #expect(unnamedFirst == ([names[0]] + names[2...], true))
        #expect(untilNone == (Array(names[2...]), [true, true, false]))
        #expect(byID == (Array(names[..<2] + names[3...]), true))
        #expect(ofUsers == (Array(names[..<4]), 1))
        #expect(unnamed == ([names[0], names[3]], 3))
        #expect(unnamedItems == ([names[0], names[3], names[4]], 2))
        #expect(all == ([], 5))
    }

    @Test("Each update makes a version, and a complete one takes over from those before it")
    func versions() throws {
        var book = Book()
        #expect(book.history.latest.version == 0)
        #expect(book.history.active.version == 0)
        for number in 1...3 {
            let query = try Self.query(["n": .int32(Int32(number))])
            book.change { $0.insertOrAssign(query, named: "room") }
        }
        let unchanged = book.change { _ in }
        #expect(unchanged.version == 4)
        #expect(book.history.unanswered.map(\.version) == [0, 1, 2, 3, 4])
        book.apply(.bootstrapBegan, to: 2, true)
        #expect(book.history.active.version == 0)
        book.apply(.bootstrapApplied, to: 2, true)
        #expect(book.history.active.version == 2)
        #expect(book.history.state(of: 1) == .superseded)
        book.apply(.refused("no such field"), to: 3, true)
        // The set that was refused supplies nothing; the one before goes on.
        #expect(book.history.active.version == 2)
        #expect(book.history.latest.version == 4)
        book.apply(.bootstrapApplied, to: 4, true)
        #expect(book.history.sets.map(\.version) == [4])
        #expect(book.history.state(of: 3) == .superseded)
        #expect(book.history.state(of: 5) == nil)
        #expect(SubscriptionHistory(kept: book.history.sets) == book.history)
    }

    @Test("What cannot happen to a version changes nothing")
    func violations() {
        var book = Book()
        book.change { _ in }
        book.apply(.bootstrapApplied, to: 1, true)
        let before = book.history
        book.apply(.refused("late"), to: 1, false)
        book.apply(.bootstrapBegan, to: 7, false)
        book.apply(.refused("late"), to: 0, true)
        #expect(book.history == before)
    }

    @Test("Queries are equal when only the order of their conditions differs")
    func canonicalForm() throws {
        let same: [(BSONDocument, BSONDocument)] = [
            (["a": 1, "b": 2], ["b": 2, "a": 1]),
            (["a": ["$gt": 1, "$lt": 5]], ["a": ["$lt": 5, "$gt": 1]]),
            (["$or": [["a": 1, "b": 1], ["c": 1]]], ["$or": [["b": 1, "a": 1], ["c": 1]]]),
            (["a": ["$not": ["$gt": 1, "$lt": 5]]], ["a": ["$not": ["$lt": 5, "$gt": 1]]]),
            (
                ["a": ["$elemMatch": ["x": 1, "y": 2]]], ["a": ["$elemMatch": ["y": 2, "x": 1]]]
            ),
        ]
        for (left, right) in same {
            #expect(try Self.query(left) == Self.query(right), "\(left) \(right)")
            #expect(try Self.query(left).hashValue == Self.query(right).hashValue)
        }
        let different: [(BSONDocument, BSONDocument)] = [
            (["a": ["x": 1, "y": 2]], ["a": ["y": 2, "x": 1]]),
            (["a": ["$eq": ["x": 1, "y": 2]]], ["a": ["$eq": ["y": 2, "x": 1]]]),
            (["a": ["$in": [1, 2]]], ["a": ["$in": [2, 1]]]),
            (["a": 1], ["a": .int64(2)]),
        ]
        for (left, right) in different {
            #expect(try Self.query(left) != Self.query(right), "\(left) \(right)")
        }
    }

    @Test("What looks beyond the document, and what is too large, cannot be subscribed to")
    func unfit() {
        let filters: [BSONDocument] = [
            ["$expr": ["$eq": ["$a", 1]]], ["$text": ["$search": "a"]],
            ["$and": [["$expr": true]]], ["a": ["$near": [0, 0]]], ["a": ["$unknown": 1]],
            ["a": .string(String(repeating: "x", count: SubscriptionQuery.filterBytesMax))],
        ]
        for filter in filters {
            #expect(throws: StoreError.self) { try Self.query(filter) }
        }
    }

    @Test("A document is claimed by each subscription that asks for it, of its collection only")
    func claims() throws {
        var book = Book()
        let set = try book.change { changes in
            changes.insertOrAssign(try Self.query(["n": ["$lte": 4]]), named: "small")
            changes.insertOrAssign(try Self.query(["members": "ann"]))
            changes.insertOrAssign(try Self.query(["miles": ["$not": ["$gte": 100]]]))
        }
        let document: BSONDocument = ["_id": 1, "n": 3, "members": ["bob", "ann"], "miles": 200]
        #expect(set.claims(on: document, in: Self.items).map(\.name) == ["small", nil])
        #expect(set.claims(on: document, in: Self.users) == [])
        #expect(set.claims(on: ["_id": 2, "n": 7], in: Self.items).count == 1)
        #expect(set.asks(of: Self.items) && !set.asks(of: Self.users))
    }
}
