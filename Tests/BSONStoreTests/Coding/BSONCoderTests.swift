import BSONStore
import Foundation
import Testing

/// Without these, an app's types would lose something on their way into the store.
@Suite struct BSONCoderTests {
    struct Everything: Codable, Equatable {
        // swift-format-ignore: NoLeadingUnderscores
        var _id = BSONObjectID(timestampSeconds: 7)
        var text = "é"
        var int = Int.max
        var int8 = Int8.min
        var int16 = Int16.max
        var int32 = Int32.min
        var int64 = Int64.min
        var uint = UInt(1) << 62
        var uint8 = UInt8.max
        var uint16 = UInt16.max
        var uint32 = UInt32.max
        var uint64 = UInt64(Int64.max)
        var double = -0.0
        var float = Float(0.1)
        var bool = true
        var date = Date(timeIntervalSince1970: 1_600_000_000.123)
        var uuid = UUID()
        var data = Data([0, 1, 255])
        var url = URL(string: "https://example.org/a?b=c#d")
        var decimal = Decimal(string: "-12345678901234567890.0123456789")
        var some: Int? = 1
        var none: String?
        var list = [1, 2, 3]
        var nested = [["a": [true, false]], [:]]
        var numbers: [Int: String] = [1: "one", -2: "two"]
        var colors: [Color: Int] = [.red: 1, .green: 2]
        var color = Color.green
        var shape = Shape.circle(radius: 2.5)
        var shapes: [Shape] = [.point, .rectangle(width: 1, height: 2), .label("x")]
        var optionals: [Int?] = [1, nil, 3]
        var value: BSONValue = .timestamp(BSONTimestamp(seconds: 1, increment: 2))
        var document: BSONDocument = ["b": 1, "a": ["c": .minKey]]
        var array: BSONArray = [1, "two", .null]
        var price = BSONDecimal128(Int64(42))
        var binary = BSONBinary([1, 2], subtype: 0x80)
        var datetime = BSONDatetime(milliseconds: .min)
        var pattern = BSONRegularExpression("^a", options: "im")
        var range = 1..<5
    }

    enum Color: String, Codable, CodingKeyRepresentable { case red, green }

    enum Shape: Codable, Equatable {
        case point
        case circle(radius: Double)
        case rectangle(width: Int, height: Int)
        case label(String)
    }

    @Test("every kind of property comes back as it was")
    func everything() throws {
        let value = Everything()
        let document = try BSONEncoder().encode(value)
        #expect(throws: Never.self) { try BSONDocument(validating: document.bytes) }
        #expect(try BSONDecoder().decode(Everything.self, from: document) == value)
        #expect(document["none"] == nil)
        #expect(document["int"] == .int64(.max))
        #expect(document["int16"] == .int32(32_767))
        #expect(document["_id"] == .objectID(value._id))
        #expect(document["date"] == .datetime(BSONDatetime(milliseconds: 1_600_000_000_123)))
        #expect(document["uuid"] == .binary(BSONBinary(value.uuid)))
        #expect(document["data"] == .binary(BSONBinary([0, 1, 255])))
        #expect(document["url"] == "https://example.org/a?b=c#d")
        #expect(document["decimal"]?.type == .decimal128)
        #expect(document["document"] == .document(value.document))
        #expect(document["colors"]?.documentValue?["red"] == .int64(1))
    }

    @Test("the order of the document's keys does not matter")
    func anyOrder() throws {
        let value = Everything()
        let document = try BSONEncoder().encode(value)
        var random = RandomBSON(seed: 5)
        for _ in 0..<20 {
            let shuffled = BSONDocument(random.shuffled(Array(document)).map { ($0.key, $0.value) })
            #expect(try BSONDecoder().decode(Everything.self, from: shuffled) == value)
        }
    }

    @Test("every kind of property survives a detour through JSON")
    func throughJSON() throws {
        let value = Everything()
        let json = try JSONEncoder().encode(value)
        var read = try JSONDecoder().decode(Everything.self, from: json)
        // JSONDecoder forgets the order of keys.
        #expect(read.document.contentEquals(value.document))
        read.document = value.document
        read.date = value.date
        #expect(read == value)
    }

    @Test("every BSON value survives JSON's coders", arguments: 0..<10)
    func valuesThroughJSON(seed: Int) throws {
        var random = RandomBSON(seed: UInt64(seed))
        for _ in 0..<50 {
            let value = ExtendedJSONSamples.quiet(random.document(depth: 2))
            let json = try JSONEncoder().encode(value)
            do {
                let read = try JSONDecoder().decode(BSONDocument.self, from: json)
                #expect(read.contentEquals(value), "\(value.extendedJSON())")
            } catch {
                Issue.record("\(error): \(String(decoding: json, as: UTF8.self))")
            }
        }
    }

    @Test("null and undefined are absent optionals", arguments: [BSONValue.null, .undefined])
    func absent(value: BSONValue) throws {
        struct Model: Codable, Equatable { var a: Int? }
        #expect(try BSONDecoder().decode(Model.self, from: ["a": value]) == Model())
        #expect(try BSONDecoder().decode(Model.self, from: [:]) == Model())
    }

    @Test("documents and single values encode, other outermost values are refused")
    func outermost() throws {
        #expect(try BSONEncoder().encode(["a": 1]) == ["a": .int64(1)])
        #expect(try BSONEncoder().encode(["b": 1] as BSONDocument) == ["b": 1])
        #expect(try BSONEncoder().encodeValue([1]) == [.int64(1)])
        #expect(try BSONEncoder().encodeValue("a") == "a")
        #expect(try BSONEncoder().encodeValue(Optional<Int>.none) == .null)
        #expect(throws: EncodingError.self) { try BSONEncoder().encode([1]) }
        #expect(throws: EncodingError.self) { try BSONEncoder().encode(1) }
        #expect(throws: EncodingError.self) { try BSONEncoder().encode(Date()) }
        #expect(try BSONDecoder().decodeValue([Int].self, from: [1, 2]) == [1, 2])
        #expect(try BSONDecoder().decodeValue(Int.self, from: .double(3)) == 3)
    }

    struct Empty: Codable, Equatable {}

    @Test("a type without properties is an empty document, also inside of others")
    func empty() throws {
        #expect(try BSONEncoder().encode(Empty()) == [:])
        #expect(try BSONEncoder().encode(["a": [Empty(), Empty()]]) == ["a": [[:], [:]]])
        #expect(try BSONDecoder().decode([String: Empty].self, from: ["a": [:]]) == ["a": Empty()])
    }

    struct Context: Codable {
        static let key = CodingUserInfoKey(rawValue: "who")
        var who: String
        init() { who = "" }
        init(from decoder: any Decoder) throws {
            who = try #require(Self.key.flatMap { decoder.userInfo[$0] as? String })
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(["who": Self.key.flatMap { encoder.userInfo[$0] as? String }])
        }
    }

    @Test("userInfo reaches the types")
    func userInfo() throws {
        let key = try #require(Context.key)
        let document = try BSONEncoder(userInfo: [key: "me"]).encode(Context())
        #expect(document == ["who": "me"])
        #expect(
            try BSONDecoder(userInfo: [key: "you"]).decode(Context.self, from: [:]).who == "you")
    }
}
