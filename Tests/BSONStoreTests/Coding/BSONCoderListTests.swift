import BSONStore
import Testing

/// Without these, arrays that the coders read and write in one go could differ from all others.
@Suite struct BSONCoderListTests {
    /// Encodes and decodes as what it wraps, but one by one.
    private struct Single<Value: Codable & Equatable & Sendable>: Codable, Equatable {
        let value: Value

        init(_ value: Value) { self.value = value }

        init(from decoder: any Decoder) throws {
            value = try decoder.singleValueContainer().decode(Value.self)
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(value)
        }
    }

    private struct Holder<Value: Codable & Equatable>: Codable, Equatable { let list: Value }

    private func check<Value: Codable & Equatable & Sendable>(_ values: [Value]) throws {
        for count in 0...values.count {
            let list = Array(values.prefix(count))
            let document = try BSONEncoder().encode(Holder(list: list))
            let singles = Holder(list: list.map(Single.init))
            #expect(try BSONEncoder().encode(singles) == document)
            #expect(try BSONDocument(validating: document.bytes) == document)
            #expect(try BSONDecoder().decode(Holder<[Value]>.self, from: document).list == list)
            #expect(
                try BSONDecoder().decode(Holder<[Single<Value>]>.self, from: document) == singles)
            let nested = try BSONEncoder().encode(Holder(list: [list, list]))
            #expect(
                try BSONDecoder().decode(Holder<[[Value]]>.self, from: nested).list == [list, list])
            #expect(try BSONEncoder().encodeValue(list) == document["list"])
            #expect(try BSONEncoder().encode(Holder(list: list), onto: document) == document)
        }
    }

    @Test("lists of primitives are coded as lists of any other type")
    func sameAsSingles() throws {
        try check((0..<120).map { "text \($0) \u{E9}" + String(repeating: "x", count: $0 % 20) })
        try check((0..<120).map { $0 * 7 - 300 })
        try check((0..<120).map { Double($0) * 1.5 })
        try check((0..<120).map { $0 % 3 == 0 })
        try check((0..<120).map { Int64($0) << 40 })
        try check((0..<120).map { Int32($0) - 60 })
    }

    @Test("numbers in a list convert where nothing is lost")
    func conversion() throws {
        let mixed: BSONDocument = ["list": [1, 2.0, .int64(3)]]
        #expect(try BSONDecoder().decode(Holder<[Int]>.self, from: mixed).list == [1, 2, 3])
        #expect(try BSONDecoder().decode(Holder<[Int32]>.self, from: mixed).list == [1, 2, 3])
        #expect(try BSONDecoder().decode(Holder<[Double]>.self, from: mixed).list == [1, 2, 3])
    }

    @Test("an element that does not fit is refused with its position")
    func refusal() {
        func path<Value: Codable & Equatable>(_ list: BSONValue, _: Value.Type) -> [String]? {
            do {
                _ = try BSONDecoder().decode(Holder<Value>.self, from: ["list": list])
                return nil
            } catch DecodingError.typeMismatch(_, let context),
                DecodingError.dataCorrupted(let context),
                DecodingError.valueNotFound(_, let context)
            {
                return context.codingPath.map(\.stringValue)
            } catch {
                return ["\(error)"]
            }
        }
        #expect(path(["a", 1], [String].self) == ["list", "Index 1"])
        #expect(path([1, 2, 3.5], [Int].self) == ["list", "Index 2"])
        #expect(path([.null], [Double].self) == ["list", "Index 0"])
        #expect(path([true, "x"], [Bool].self) == ["list", "Index 1"])
        #expect(path([.int64(1 << 40)], [Int32].self) == ["list", "Index 0"])
        #expect(path("no list", [Int64].self) == ["list"])
        #expect(path(["0": 1], [Int].self) == ["list"])
    }

    @Test("a list counts as a level of nesting")
    func depth() throws {
        indirect enum Nest: Encodable {
            case list([Int])
            case inside(Nest)

            func encode(to encoder: any Encoder) throws {
                switch self {
                case .list(let list):
                    var container = encoder.unkeyedContainer()
                    try container.encode(list)
                case .inside(let nest):
                    var container = encoder.unkeyedContainer()
                    try container.encode(nest)
                }
            }
        }
        func nested(_ levels: Int) -> Nest {
            (2..<levels).reduce(.list([1])) { nest, _ in .inside(nest) }
        }
        #expect(throws: Never.self) { try BSONEncoder().encodeValue(nested(100)) }
        #expect(throws: EncodingError.self) { try BSONEncoder().encodeValue(nested(101)) }
    }
}
