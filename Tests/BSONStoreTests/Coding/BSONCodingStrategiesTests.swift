import BSONStore
import Foundation
import Testing

/// Without these, documents that other programs wrote in another form could not be read.
@Suite struct BSONCodingStrategiesTests {
    struct Model: Codable, Equatable {
        var lastSeen = Date(timeIntervalSince1970: 1.5)
        var deviceID: UUID? = UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF")
        var rawData = Data([255])
        var nothing: Int?
    }

    private func check(_ strategies: BSONCodingStrategies, _ expected: BSONDocument) throws {
        let document = try BSONEncoder(strategies: strategies).encode(Model())
        for (key, value) in expected { #expect(document[key] == value) }
        #expect(
            try BSONDecoder(strategies: strategies).decode(Model.self, from: document) == Model())
    }

    @Test("each form of a date is written and read")
    func dates() throws {
        try check(.init(), ["lastSeen": .datetime(BSONDatetime(milliseconds: 1_500))])
        try check(.init(dates: .secondsSince1970), ["lastSeen": 1.5])
        try check(.init(dates: .millisecondsSince1970), ["lastSeen": 1_500.0])
        try check(.init(dates: .iso8601), ["lastSeen": "1970-01-01T00:00:01.500Z"])
        let custom = BSONCodingStrategies.Dates.custom(
            encode: { .int64(Int64($0.timeIntervalSince1970 * 2)) },
            decode: { Date(timeIntervalSince1970: Double($0.int64Value ?? 0) / 2) })
        try check(.init(dates: custom), ["lastSeen": .int64(3)])
    }

    @Test("each form of a UUID and of data is written and read")
    func binaries() throws {
        try check(.init(uuids: .string), ["deviceID": "00112233-4455-6677-8899-aabbccddeeff"])
        try check(.init(data: .base64), ["rawData": "/w=="])
    }

    @Test("keys change their form in both directions")
    func keys() throws {
        let document = try BSONEncoder(strategies: .init(keys: .snakeCase)).encode(Model())
        #expect(document.keys == ["last_seen", "device_id", "raw_data"])
        try check(.init(keys: .snakeCase), [:])
        let reversed = BSONCodingStrategies.Keys.custom { String($0.reversed()) }
        try check(.init(keys: reversed), ["ataDwar": .binary(BSONBinary([255]))])
    }

    /// Tries a dictionary first, on the same decoder and encoder.
    private struct Fallback: Codable, Equatable {
        enum Key: CodingKey { case firstName }
        var firstName = "Ada"

        init() {}

        init(from decoder: any Decoder) throws {
            #expect(throws: DecodingError.self) {
                try decoder.singleValueContainer().decode([String: Int].self)
            }
            let container = try decoder.container(keyedBy: Key.self)
            firstName = try container.decode(String.self, forKey: .firstName)
        }

        func encode(to encoder: any Encoder) throws {
            var single = encoder.singleValueContainer()
            try single.encode(["someData": 1])
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(firstName, forKey: .firstName)
        }
    }

    @Test("keys change their form after a dictionary was tried in their place")
    func keysAfterDictionary() throws {
        let strategies = BSONCodingStrategies(keys: .snakeCase)
        let document = try BSONEncoder(strategies: strategies).encode(Fallback())
        #expect(document.keys == ["someData", "first_name"])
        let decoder = BSONDecoder(strategies: strategies)
        #expect(try decoder.decode(Fallback.self, from: ["first_name": "Bea"]).firstName == "Bea")
    }

    @Test(
        "words are told apart as JSONEncoder tells them",
        arguments: [
            ("one", "one"), ("oneTwo", "one_two"), ("myURLPath", "my_url_path"),
            ("userID", "user_id"),
            ("_private", "_private"), ("a", "a"), ("already_snake", "already_snake"),
            ("URL", "url"),
        ])
    func snakeCase(key: String, expected: String) throws {
        let document = try BSONEncoder(strategies: .init(keys: .snakeCase)).encode(Named(key: key))
        #expect(document.keys == [expected])
    }

    /// Encodes one field of any name.
    struct Named: Encodable {
        struct Key: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        let key: String

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(1, forKey: Key(stringValue: key))
        }
    }

    struct Scores: Codable, Equatable {
        struct Wrapper: Codable, Equatable {
            var value = ["innerKey": 1]
            init() {}
            init(from decoder: any Decoder) throws {
                value = try decoder.singleValueContainer().decode([String: Int].self)
            }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(value)
            }
        }

        var byUser = ["userID": Person(fullName: "a")]
        var wrapped = Wrapper()
    }

    struct Person: Codable, Equatable { var fullName: String }

    @Test("the keys of dictionaries are data and stay as they are")
    func dictionaries() throws {
        let strategies = BSONCodingStrategies(keys: .snakeCase)
        let document = try BSONEncoder(strategies: strategies).encode(Scores())
        #expect(
            document == [
                "by_user": ["userID": ["full_name": "a"]], "wrapped": ["innerKey": .int64(1)],
            ])
        let decoder = BSONDecoder(strategies: strategies)
        #expect(try decoder.decode(Scores.self, from: document) == Scores())
        let whole = try BSONEncoder(strategies: strategies).encode(["aKey": Person(fullName: "b")])
        #expect(whole == ["aKey": ["full_name": "b"]])
        #expect(
            try decoder.decode([String: Person].self, from: whole) == ["aKey": .init(fullName: "b")]
        )
    }

    @Test("absent optionals are null when asked for")
    func nils() throws {
        try check(.init(nils: .encodeNull), ["nothing": .null])
        #expect(try !BSONEncoder().encode(Model()).contains(key: "nothing"))
    }

    @Test(
        "decimals keep their digits",
        arguments: [
            "0", "1.50", "-0.000001", "9999999999999999999999999999999999", "1E-100", "12E+20",
            "0.1234567890123456789012345678901234",
        ])
    func decimals(text: String) throws {
        let decimal = try #require(Decimal(string: text))
        let number = try BSONDecimal128(decimal)
        #expect(number.decimalValue == decimal)
        #expect(try BSONDecimal128(text).decimalValue == decimal)
    }
}
