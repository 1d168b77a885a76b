import BSONStore
import Foundation
import Testing

/// Without these a date that no calendar has would end the process, or mean another day.
@Suite struct ImpossibleDateTests {
    /// Seconds that no datetime holds.
    static let seconds = [
        Double.nan, -.nan, .signalingNaN, .infinity, -.infinity, 1e300, -1e300,
        .greatestFiniteMagnitude, 9_223_372_036_854_776, -9_223_372_036_854_778,
    ]

    static let strategies: [(name: String, dates: BSONCodingStrategies.Dates)] = [
        ("datetime", .bsonDatetime), ("seconds", .secondsSince1970),
        ("milliseconds", .millisecondsSince1970), ("text", .iso8601),
        (
            "custom",
            .custom(
                encode: { try BSONValue(encoding: $0) }, decode: { $0.dateValue ?? .distantPast })
        ),
    ]

    private struct Log: Codable { var dates: [String: [Date]] }

    @Test(arguments: strategies.indices)
    func `the encoder refuses them and names the field`(_ index: Int) throws {
        let (name, dates) = Self.strategies[index]
        let encoder = BSONEncoder(strategies: BSONCodingStrategies(dates: dates))
        for seconds in Self.seconds {
            let holdsNumber = ["seconds", "milliseconds"].contains(name)
            if holdsNumber, (seconds * 1_000).isFinite { continue }
            let date = Date(timeIntervalSince1970: seconds)
            if name == "seconds", seconds.isFinite { continue }
            do {
                _ = try encoder.encode(Log(dates: ["due": [.distantPast, date]]))
                Issue.record("\(seconds) is stored as \(name)")
            } catch let error as EncodingError {
                guard case .invalidValue(_, let context) = error else { return }
                // A closure of the app throws an error of its own.
                if name == "custom" { continue }
                #expect(
                    context.codingPath.map(\.stringValue) == ["dates", "due", "Index 1"])
                // Describing the error must not end the process, either.
                #expect("\(error)".contains("due"))
            }
            #expect(throws: EncodingError.self) { try encoder.encodeValue(date) }
            #expect(throws: EncodingError.self) { try encoder.encodeValue([date]) }
            #expect(throws: EncodingError.self) { try encoder.encodeValue(Optional(date)) }
        }
    }

    @Test func `a filter refuses what is not a number, and nothing is another day`() throws {
        let events = try DocumentStore(at: .inMemory).collection(Namespace("app", "events"))
        try events.insertOne(["at": .date(Date(timeIntervalSince1970: 0))])
        for seconds in Self.seconds {
            let date = Date(timeIntervalSince1970: seconds)
            #expect(BSONDatetime(date) == nil)
            let error = #expect(throws: (any Error).self) { try BSONValue(encoding: date) }
            #expect(error is EncodingError)
            guard seconds.isNaN else {
                let bound = seconds < 0 ? Int64.min : .max
                #expect(BSONValue.date(date) == .datetime(BSONDatetime(milliseconds: bound)))
                continue
            }
            for test in ["$eq", "$gt", "$lte", "$ne"] {
                #expect(throws: StoreError.self) {
                    try events.find(["at": [test: .date(date)]]).fetch()
                }
            }
        }
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `any bits of a date are stored to the millisecond, or refused`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var stored = 0
        for _ in 0..<2_000 {
            // Any bits, and those near the bounds of datetimes and of the calendar.
            let bits = Double(bitPattern: random.next())
            let scale = [9_223_372_036_854_775.0, 253_402_300_800, 62_167_219_200, 1e9]
            let near =
                (scale.randomElement(using: &random) ?? 1)
                * Double.random(in: -1.001...1.001, using: &random)
            for seconds in [bits, near] {
                for (_, dates) in Self.strategies {
                    let strategies = BSONCodingStrategies(dates: dates)
                    let date = Date(timeIntervalSince1970: seconds)
                    do {
                        let value = try BSONEncoder(strategies: strategies).encodeValue(date)
                        stored += 1
                        let read = try BSONDecoder(strategies: strategies)
                            .decodeValue(Date.self, from: value).timeIntervalSince1970
                        #expect(abs(read - seconds) <= max(0.001, seconds.ulp * 2), "\(seconds)")
                    } catch is EncodingError {
                    } catch is DecodingError {
                        // Datetimes beyond the precision of `Date` are stored, but not read.
                        #expect(abs(seconds) > 1e12)
                    }
                }
            }
        }
        #expect(stored > 5_000)
    }

    @Test func `Extended JSON has no such date`() {
        for text in [
            #"{"a": {"$date": {"$numberDouble": "NaN"}}}"#, #"{"a": {"$date": NaN}}"#,
            #"{"a": {"$date": {"$numberDouble": "Infinity"}}}"#, #"{"a": {"$date": 1e300}}"#,
            #"{"a": {"$date": {"$numberLong": "9223372036854775808"}}}"#,
        ] {
            #expect(throws: BSONError.self, "\(text)") { try BSONDocument(extendedJSON: text) }
        }
    }
}
