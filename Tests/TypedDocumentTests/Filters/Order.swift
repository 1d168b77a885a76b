import BSONStore
import Foundation

/// A document with a field of each kind, whose fields are written by hand.
struct Order: TypedDocument, Equatable {
    enum Status: String, Codable { case open, paid, sent }
    enum Level: Int, Codable { case low = 1, high = 9 }

    struct Geo: TypedDocument, Equatable {
        var lat: Double
        var lon: Double

        struct Fields: Sendable {
            let lat = Field<Double>("lat")
            let lon = Field<Double>("lon")
        }
        static var fields: Fields { Fields() }
    }

    struct Address: TypedDocument, Equatable {
        var city: String
        var zip: String?
        var geo: Geo?

        struct Fields: Sendable {
            let city = Field<String>("city")
            let zip = Field<String?>("zip")
            let geo = Field<Geo?>("geo")
        }
        static var fields: Fields { Fields() }
    }

    struct Line: TypedDocument, Equatable {
        var product: String
        var price: Int
        var count: Int
        var marks: [String] = []

        struct Fields: Sendable {
            let product = Field<String>("product")
            let price = Field<Int>("price")
            let count = Field<Int>("count")
            let marks = Field<[String]>("marks")
        }
        static var fields: Fields { Fields() }
    }

    var id: Int
    var name: String
    var note: String?
    var complexity: Int
    var small: Int32 = 1
    var rating: Double
    var price: Decimal
    var discount: Int?
    var done: Bool
    var hidden: Bool?
    var created: Date
    var due: Date?
    var blob: Data
    var token: UUID
    var link: URL?
    var status: Status
    var level: Level?
    var owner: BSONObjectID
    var tags: [String]
    var labels: Set<String> = []
    var scores: [Int]
    var aliases: [String]?
    var gaps: [Int?] = []
    var matrix: [[Int]] = []
    var address: Address
    var previous: Address?
    var lines: [Line]
    var counters: [String: Int] = [:]
    var extra: BSONValue = .null

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case name, note, complexity, small, rating, price, discount, done, hidden, created, due,
            blob
        case token, link, status, level, owner, tags, labels, scores, aliases, gaps, matrix, address
        case previous, lines, counters, extra
    }

    struct Fields: Sendable {
        let id = Field<Int>("_id")
        let name = Field<String>("name")
        let note = Field<String?>("note")
        let complexity = Field<Int>("complexity")
        let small = Field<Int32>("small")
        let rating = Field<Double>("rating")
        let price = Field<Decimal>("price")
        let discount = Field<Int?>("discount")
        let done = Field<Bool>("done")
        let hidden = Field<Bool?>("hidden")
        let created = Field<Date>("created")
        let due = Field<Date?>("due")
        let blob = Field<Data>("blob")
        let token = Field<UUID>("token")
        let link = Field<URL?>("link")
        let status = Field<Status>("status")
        let level = Field<Level?>("level")
        let owner = Field<BSONObjectID>("owner")
        let tags = Field<[String]>("tags")
        let labels = Field<Set<String>>("labels")
        let scores = Field<[Int]>("scores")
        let aliases = Field<[String]?>("aliases")
        let gaps = Field<[Int?]>("gaps")
        let matrix = Field<[[Int]]>("matrix")
        let address = Field<Address>("address")
        let previous = Field<Address?>("previous")
        let lines = Field<[Line]>("lines")
        let counters = Field<[String: Int]>("counters")
        let extra = Field<BSONValue>("extra")
    }
    static var fields: Fields { Fields() }
}

extension Order {
    static let start = Date(timeIntervalSince1970: 1_700_000_000)
    static let firstToken = UUID(
        uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
    static let firstOwner = BSONObjectID(bigEndianHigh: 0x64b0_c0ff_ee00_0000, low: 0xabcd)

    /// Stored documents, of which each condition of the tests finds some or none.
    static let samples: [Order] = [
        Order(
            id: 1, name: "Ada", complexity: 1, rating: 4.5, price: 10, done: false,
            created: start, blob: Data([1, 2]), token: firstToken, status: .open,
            owner: firstOwner, tags: ["home", "red"], scores: [1, 5],
            address: Address(city: "Oslo", geo: Geo(lat: 59.5, lon: 10.5)),
            lines: [
                Line(product: "pen", price: 2, count: 10, marks: ["a"]),
                Line(product: "ink", price: 12, count: 1),
            ]),
        Order(
            id: 2, name: "Bob (old)", note: "call", complexity: 4, small: 7, rating: 2,
            price: 19.5, discount: 5, done: true, hidden: true, created: start + 60,
            due: start + 3_600, blob: Data(), token: UUID(),
            link: URL(string: "https://a.example/x"),
            status: .paid, level: .high, owner: BSONObjectID(), tags: [], labels: ["new"],
            scores: [7], aliases: ["bobby"], gaps: [1, nil], matrix: [[1, 2], [3]],
            address: Address(city: "Bergen", zip: "5003"),
            previous: Address(city: "Oslo", zip: "0150", geo: Geo(lat: 1, lon: 2)), lines: [],
            counters: ["seen": 3], extra: 5),
        Order(
            id: 3, name: "ada", note: "", complexity: 7, rating: 5, price: 99, discount: 0,
            done: true, hidden: false, created: start + 120, due: start + 60, blob: Data([9]),
            token: UUID(), status: .sent, level: .low, owner: BSONObjectID(),
            tags: ["home", "work", "a.b"], labels: ["new", "old"], scores: [], aliases: [],
            gaps: [2], matrix: [[]], address: Address(city: "Oslo", zip: "0151"),
            lines: [Line(product: "pen", price: 3, count: 3, marks: ["a", "b"])],
            counters: ["seen": 9, "sold": 1], extra: "text"),
    ]
}
