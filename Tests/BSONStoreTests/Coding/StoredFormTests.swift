import BSONStore
import Foundation
import Testing

/// Without these, values in a form of another program would not sort, compare or read as its own.
@Suite struct StoredFormTests {
    private static let texts = BSONCodingStrategies(dates: .iso8601, uuids: .string)

    @Test func `dates as texts sort as the dates do`() throws {
        let encoder = BSONEncoder(strategies: Self.texts)
        let dates = [
            -62_167_219_200, -1.5, -1, -0.001, 0, 0.001, 0.25, 0.9996, 20, 20.25, 21,
            253_402_300_799.999,
        ].map { Date(timeIntervalSince1970: $0) }
        let texts = try dates.map { try encoder.encodeValue($0).stringValue ?? "" }
        #expect(texts == texts.sorted())
        #expect(Set(texts.map(\.utf8.count)) == [24])
        #expect(texts[8] == "1970-01-01T00:00:20.000Z")
        for (date, text) in zip(dates, texts) {
            let read = try BSONDecoder(strategies: Self.texts)
                .decodeValue(Date.self, from: .string(text))
            #expect(abs(read.timeIntervalSince(date)) <= 0.0005)
        }
    }

    @Test func `older forms of a date's text are read`() throws {
        let decoder = BSONDecoder(strategies: Self.texts)
        for text in [
            "1970-01-01T00:00:20Z", "1970-01-01T00:00:20.0Z", "1970-01-01t01:00:20+01:00",
            "1970-01-01T00:00:20.000000001Z",
        ] {
            let date = try decoder.decodeValue(Date.self, from: .string(text))
            #expect(date == Date(timeIntervalSince1970: 20))
        }
    }

    @Test func `a UUID as text is in lower case, and read in either`() throws {
        let id = UUID()
        let text = id.uuidString
        #expect(
            try BSONEncoder(strategies: Self.texts).encodeValue(id) == .string(text.lowercased()))
        let decoder = BSONDecoder(strategies: Self.texts)
        for text in [text, text.lowercased()] {
            #expect(try decoder.decodeValue(UUID.self, from: .string(text)) == id)
        }
    }

    @Test func `a float is the double of its digits`() throws {
        let pairs: [(Float, Double)] = [
            (0.1, 0.1), (-0.3, -0.3), (1e-20, 1e-20), (3.14159274, 3.1415927), (2.5, 2.5),
            (16_777_216, 16_777_216), (1_073_741_824, 1_073_741_824), (-0.0, -0.0), (0, 0),
            (.infinity, .infinity), (.greatestFiniteMagnitude, 0x1.fffffep127),
        ]
        struct Everywhere: Codable, Equatable {
            var plain: Float
            var optional: Float?
            var list: [Float]
            var named: [String: Float]
        }
        for (float, double) in pairs {
            #expect(try BSONEncoder().encodeValue(float) == .double(double))
            let value = Everywhere(
                plain: float, optional: float, list: [float], named: ["a": float])
            let document = try BSONEncoder().encode(value)
            #expect(
                document == [
                    "plain": .double(double), "optional": .double(double),
                    "list": [.double(double)], "named": ["a": .double(double)],
                ])
            #expect(try BSONDecoder().decode(Everywhere.self, from: document) == value)
        }
    }

    @Test func `a double reads as the nearest float`() throws {
        let decoder = BSONDecoder()
        func float(_ value: BSONValue) throws -> Float {
            try decoder.decodeValue(Float.self, from: value)
        }
        #expect(try float(0.1) == 0.1)
        #expect(try float(.double(Double(Float(0.1)))) == 0.1)
        #expect(try float(21.456789123) == 21.456789)
        #expect(try float(.double(.nan)).isNaN)
        for value: BSONValue in [
            1e300, -1e300, 1e-60, .int32(16_777_217), .int64(9_007_199_254_740_993),
        ] { #expect(throws: DecodingError.self) { try float(value) } }
    }

    @Test(arguments: 0..<10 as Range<UInt64>)
    func `every float comes back as it was`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<5_000 {
            let float = Float(bitPattern: UInt32(truncatingIfNeeded: random.next()))
            let read = try BSONDecoder().decodeValue(
                Float.self, from: try BSONEncoder().encodeValue(float))
            #expect(read == float || read.isNaN && float.isNaN)
        }
    }
}
