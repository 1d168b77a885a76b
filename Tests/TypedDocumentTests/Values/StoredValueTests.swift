import BSONStore
import Foundation
import Testing

/// Without these a filter that is written by hand would miss documents that a `Codable` type wrote.
@Suite struct StoredValueTests {
    /// A filter on one field, in both forms.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let filter: @Sendable (Parcel) throws -> BSONDocument
        let typed: @Sendable (Parcel) throws -> TypedFilter

        init(
            _ name: String, _ filter: @escaping @Sendable (Parcel) throws -> BSONDocument,
            _ typed: @escaping @Sendable (Parcel, Parcel.Fields) throws -> TypedFilter
        ) {
            testDescription = name
            self.filter = filter
            self.typed = { try typed($0, Parcel.fields) }
        }
    }

    /// Filters that find the first parcel of ``Parcel/pair()`` and not the second.
    static let cases = [
        Case("UUID as _id") {
            ["_id": .uuid($0.id)]
        } _: {
            $1.id == $0.id
        },
        Case("equal Date") {
            ["due": .date($0.due)]
        } _: {
            $1.due == $0.due
        },
        Case("earlier Date") {
            ["due": ["$lt": .date($0.due + 1)]]
        } _: {
            $1.due < $0.due + 1
        },
        Case("missing Date") { _ in
            ["returned": nil]
        } _: {
            $1.returned == nil
        },
        Case("Data") {
            ["seal": .data($0.seal)]
        } _: {
            $1.seal == $0.seal
        },
        Case("equal Decimal") {
            try ["price": .decimal($0.price)]
        } _: {
            $1.price == $0.price
        },
        Case("greater Decimal") {
            try ["price": ["$gt": .decimal($0.price - 1)]]
        } _: {
            $1.price > $0.price - 1
        },
        Case("URL") {
            ["link": .url($0.link)]
        } _: {
            $1.link == $0.link
        },
        Case("enum of String") {
            ["state": .enum($0.state)]
        } _: {
            $1.state == $0.state
        },
        Case("literal of an enum") { _ in
            ["state": "open"]
        } _: {
            $1.state == .open
        },
        Case("enum of Int") {
            ["priority": .enum($0.priority)]
        } _: {
            $1.priority == .low
        },
        Case("list of enums") {
            ["shelf": ["$in": [.enum($0.shelf)]]]
        } _: {
            $1.shelf.in([$0.shelf])
        },
        Case("Int beyond 32 bits") {
            ["weight": ["$gte": .int($0.weight)]]
        } _: {
            $1.weight >= $0.weight
        },
        Case("optional UUID") {
            ["sender": $0.sender.map(BSONValue.uuid) ?? "none"]
        } _: {
            $1.sender == $0.sender
        },
        Case("ObjectID") {
            ["receiver": .objectID($0.receiver)]
        } _: {
            $1.receiver == $0.receiver
        },
    ]

    @Test(arguments: cases)
    func `a filter finds what Codable wrote`(one: Case) throws {
        let (first, second) = try Parcel.pair()
        let store = try DocumentStore(at: .inMemory)
        let parcels = store.collection(Namespace("shop", "parcels"), of: Parcel.self)
        try parcels.insertMany([first, second])
        #expect(try parcels.find(try one.filter(first)).fetch().map(\.id) == [first.id])
        let typed = try one.typed(first)
        #expect(try parcels.find { _ in typed }.fetch().map(\.id) == [first.id])
    }

    @Test func `a value has the bytes that the encoder writes`() throws {
        let (first, second) = try Parcel.pair()
        for parcel in [first, second] {
            var expected: BSONDocument = [
                "_id": .uuid(parcel.id), "due": .date(parcel.due), "seal": .data(parcel.seal),
            ]
            expected.append("price", try .decimal(parcel.price))
            expected.append("link", .url(parcel.link))
            expected.append("state", .enum(parcel.state))
            expected.append("priority", .enum(parcel.priority))
            expected.append("shelf", .enum(parcel.shelf))
            expected.append("weight", .int(parcel.weight))
            if let sender = parcel.sender { expected.append("sender", .uuid(sender)) }
            if let returned = parcel.returned { expected.append("returned", .date(returned)) }
            expected.append("receiver", .objectID(parcel.receiver))
            #expect(try BSONEncoder().encode(parcel) == expected)
            #expect(try BSONValue(encoding: parcel) == .document(expected))
        }
    }

    @Test func `a document that is written by hand decodes, and its values read back`() throws {
        let (first, _) = try Parcel.pair()
        let document = try BSONEncoder().encode(first)
        #expect(document["_id"]?.uuidValue == first.id)
        #expect(document["due"]?.dateValue == Date(timeIntervalSince1970: 1_700_000_000.123))
        #expect(document["seal"]?.dataValue == first.seal)
        #expect(document["price"]?.decimalValue == first.price)
        #expect(document["link"]?.urlValue == first.link)
        #expect(document["weight"]?.intValue == first.weight)
        #expect(document["sender"]?.uuidValue == first.sender)
        #expect(document["receiver"]?.objectIDValue == first.receiver)
        var rounded = first
        rounded.due = Date(timeIntervalSince1970: 1_700_000_000.123)
        #expect(try BSONDecoder().decode(Parcel.self, from: document) == rounded)
    }

    @Test func `a date that no datetime holds is refused on every road, with the field's name`()
        throws
    {
        let parcels = try DocumentStore(at: .inMemory)
            .collection(Namespace("app", "parcels"), of: Parcel.self)
        var (first, second) = try Parcel.pair()
        try parcels.insertOne(second)
        for seconds in [Double.nan, .infinity, -.infinity, 1e300] {
            let date = Date(timeIntervalSince1970: seconds)
            first.due = date
            second.due = date
            let (sound, broken) = (second.id, first)
            let roads: [(String, () throws -> Void)] = [
                ("insert", { try parcels.insertOne(broken) }),
                ("filter", { _ = try parcels.find { $0.due == date }.fetch() }),
                ("order", { _ = try parcels.find { $0.due < date }.fetch() }),
                (
                    "opposite",
                    { _ = try parcels.find { !($0.due < date && $0.weight == 1) }.fetch() }
                ),
                ("list", { _ = try parcels.find { $0.due.in([.distantPast, date]) }.fetch() }),
                ("count", { _ = try parcels.find { $0.due > date }.count() }),
                ("set", { try parcels.updateOne({ $0.id == sound }) { $0.due.set(date) } }),
                ("max", { try parcels.updateOne({ $0.id == sound }) { $0.due.max(date) } }),
                ("delete", { try parcels.deleteOne { $0.due == date } }),
            ]
            for (name, road) in roads {
                let error = #expect(throws: EncodingError.self, "\(name)") { try road() }
                let text = error.map { "\($0)" } ?? ""
                #expect(text.contains("due"), "\(name): \(text)")
            }
            guard seconds.isNaN else { continue }
            #expect(throws: StoreError.self) {
                try parcels.documents.find(["due": ["$lt": .date(date)]]).fetch()
            }
        }
        #expect(try parcels.find().count() == 1)
    }

    @Test func `a decimal that would lose digits is refused, as by the encoder`() throws {
        let third = Decimal(1) / 3
        #expect(throws: BSONError.self) { try BSONValue.decimal(third) }
        #expect(throws: EncodingError.self) { try BSONValue(encoding: third) }
        #expect(try BSONValue.decimal(.nan) == .decimal128(.nan))
    }

    @Test func `raw values have the width of the encoder's`() throws {
        enum Byte: Int8, Codable { case one = -1 }
        enum Word: Int32, Codable { case one = -1 }
        enum Count: UInt32, Codable { case one = 4_000_000_000 }
        enum Long: UInt64, Codable { case one = 1, greatest = 18_446_744_073_709_551_615 }
        #expect(try BSONValue.enum(Byte.one) == BSONValue(encoding: Byte.one))
        #expect(try BSONValue.enum(Word.one) == BSONValue(encoding: Word.one))
        #expect(try BSONValue.enum(Count.one) == BSONValue(encoding: Count.one))
        #expect(try BSONValue.enum(Long.one) == BSONValue(encoding: Long.one))
        #expect(BSONValue.enum(Long.greatest) == .int64(.max))
        #expect(throws: EncodingError.self) { try BSONValue(encoding: Long.greatest) }
    }
}
