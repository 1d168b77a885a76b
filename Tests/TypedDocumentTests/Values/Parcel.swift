import BSONStore
import Foundation

/// A document with a field of each type that BSON stores in a form of its own.
struct Parcel: TypedDocument, Equatable {
    enum State: String, Codable { case open, sent }
    enum Priority: Int, Codable { case low = 1, high = 9 }
    enum Shelf: UInt16, Codable { case lower = 1, upper = 2 }

    var id: UUID
    var due: Date
    var seal: Data
    var price: Decimal
    var link: URL
    var state: State
    var priority: Priority
    var shelf: Shelf
    var weight: Int
    var sender: UUID?
    var returned: Date?
    var receiver: BSONObjectID

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case due, seal, price, link, state, priority, shelf, weight, sender, returned, receiver
    }

    struct Fields: Sendable {
        let id = Field<UUID>("_id")
        let due = Field<Date>("due")
        let seal = Field<Data>("seal")
        let price = Field<Decimal>("price")
        let link = Field<URL>("link")
        let state = Field<State>("state")
        let priority = Field<Priority>("priority")
        let shelf = Field<Shelf>("shelf")
        let weight = Field<Int>("weight")
        let sender = Field<UUID?>("sender")
        let returned = Field<Date?>("returned")
        let receiver = Field<BSONObjectID>("receiver")
    }
    static var fields: Fields { Fields() }
}

extension Parcel {
    /// Two parcels that differ in every field; the first has finer parts than milliseconds.
    static func pair() throws -> (first: Parcel, second: Parcel) {
        let links = try ["https://a.example/x?y=1#z", "mailto:b@example.net"].map {
            guard let link = URL(string: $0) else { throw URLError(.badURL) }
            return link
        }
        let first = Parcel(
            id: UUID(), due: Date(timeIntervalSince1970: 1_700_000_000.123_456),
            seal: Data([0, 255, 7]), price: Decimal(string: "19.99") ?? 0, link: links[0],
            state: .open, priority: .low, shelf: .lower, weight: 5_000_000_000, sender: UUID(),
            returned: nil, receiver: BSONObjectID())
        let second = Parcel(
            id: UUID(), due: Date(timeIntervalSince1970: 1_800_000_000), seal: Data(),
            price: Decimal(string: "-0.5") ?? 0, link: links[1], state: .sent, priority: .high,
            shelf: .upper, weight: 3, sender: nil, returned: .distantFuture,
            receiver: BSONObjectID())
        return (first, second)
    }
}
