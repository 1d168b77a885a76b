import BSONStore
import Foundation
import Testing

/// Without these, a number would change silently, or nobody would know which one was refused.
@Suite struct BSONCoderErrorTests {
    struct Model<Value: Codable & Equatable & Sendable>: Codable { var a: [[String: Value]] }

    /// The path of the error that decoding a value as a type gives.
    private func path<V: Codable & Equatable & Sendable>(_ value: BSONValue, _ type: V.Type)
        -> [String]?
    {
        do {
            _ = try BSONDecoder().decode(Model<V>.self, from: ["a": [[:], ["b": value]]])
            return nil
        } catch DecodingError.dataCorrupted(let context) {
            return context.codingPath.map(\.stringValue)
        } catch DecodingError.typeMismatch(_, let context) {
            return ["mismatch"] + context.codingPath.map(\.stringValue)
        } catch {
            return ["\(error)"]
        }
    }

    private let place = ["a", "Index 1", "b"]

    @Test("a number that would change is refused with its coding path")
    func lossy() throws {
        #expect(path(.int32(128), Int8.self) == place)
        #expect(path(.int32(-1), UInt8.self) == place)
        #expect(path(.int64(1 << 31), Int32.self) == place)
        #expect(path(.int64(-1), UInt64.self) == place)
        #expect(path(.double(1.5), Int.self) == place)
        #expect(path(.double(1e19), Int.self) == place)
        #expect(path(.double(.nan), Int.self) == place)
        #expect(path(.int64(9_007_199_254_740_993), Double.self) == place)
        #expect(path(.double(1e300), Float.self) == place)
        #expect(path(.decimal128(try BSONDecimal128("0.1")), Double.self) == place)
        #expect(path(.decimal128(try BSONDecimal128("1.5")), Int.self) == place)
        #expect(path(.decimal128(try BSONDecimal128("1E+400")), Decimal.self) == place)
        #expect(path(.datetime(BSONDatetime(milliseconds: .max)), Date.self) == place)
    }

    @Test("a number that does not change converts between all widths")
    func lossless() throws {
        let decimal = BSONValue.decimal128(try BSONDecimal128("7.0"))
        for value in [BSONValue.int32(7), .int64(7), .double(7), decimal] {
            #expect(path(value, Int8.self) == nil)
            #expect(path(value, UInt64.self) == nil)
            #expect(path(value, Double.self) == nil)
            #expect(path(value, Float.self) == nil)
            #expect(path(value, Decimal.self) == nil)
            #expect(path(value, BSONDecimal128.self) == nil)
        }
    }

    @Test("a value of another type is refused with its coding path")
    func mismatch() {
        #expect(path("1", Int.self) == ["mismatch"] + place)
        #expect(path(1, String.self) == ["mismatch"] + place)
        #expect(path(1, Bool.self) == ["mismatch"] + place)
        #expect(path(.bool(true), Int.self) == ["mismatch"] + place)
        #expect(path([:], [Int].self) == ["mismatch"] + place)
        #expect(path([], [String: Int].self) == ["mismatch"] + place)
        #expect(path(1, Date.self) == ["mismatch"] + place)
        #expect(path("x", BSONObjectID.self) == ["mismatch"] + place)
        #expect(path(.binary(BSONBinary([1], subtype: 4)), UUID.self) == place)
        #expect(path(.binary(BSONBinary(UUID())), Data.self) == nil)
        #expect(path(1, BSONDocument.self) == ["mismatch"] + place)
    }

    @Test("a missing key and a null are told apart")
    func missing() {
        struct Plain: Codable { var a: Int }
        do {
            _ = try BSONDecoder().decode(Plain.self, from: ["b": 1])
            Issue.record("There is no a.")
        } catch DecodingError.keyNotFound(let key, let context) {
            #expect(key.stringValue == "a")
            #expect(context.codingPath.isEmpty)
        } catch {
            Issue.record("\(error)")
        }
        do {
            _ = try BSONDecoder().decode(Plain.self, from: ["a": .null])
            Issue.record("a is null.")
        } catch DecodingError.valueNotFound(_, let context) {
            #expect(context.codingPath.map(\.stringValue) == ["a"])
        } catch {
            Issue.record("\(error)")
        }
    }

    @Test("what BSON cannot hold is refused with its coding path")
    func unencodable() throws {
        func path(_ value: some Encodable) -> [String]? {
            do {
                _ = try BSONEncoder().encode(["a": [value]])
                return nil
            } catch EncodingError.invalidValue(_, let context) {
                return context.codingPath.map(\.stringValue)
            } catch {
                return ["\(error)"]
            }
        }
        #expect(path(UInt64.max) == ["a", "Index 0"])
        #expect(path(UInt.max) == ["a", "Index 0"])
        #expect(path(["b": UInt64.max]) == ["a", "Index 0", "b"])
        #expect(path(["x\0y": 1]) == ["a", "Index 0", "x\0y"])
        #expect(path(Date.distantFuture) == nil)
        #expect(path(Date(timeIntervalSince1970: 1e300)) == ["a", "Index 0"])
        let digits = try #require(Decimal(string: "12345678901234567890123456789012345678"))
        #expect(path(digits) == ["a", "Index 0"])
    }

    struct Chain: Codable { var next: [Chain] }

    @Test("nesting deeper than 100 levels is refused")
    func depth() throws {
        func chain(_ levels: Int) -> Chain {
            var chain = Chain(next: [])
            for _ in 0..<levels { chain = Chain(next: [chain]) }
            return chain
        }
        let deepest = try BSONEncoder().encode(chain(49))
        #expect(throws: Never.self) { try BSONDocument(validating: deepest.bytes) }
        #expect(throws: EncodingError.self) { try BSONEncoder().encode(chain(50)) }
    }
}
