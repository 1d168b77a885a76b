import Testing

@testable import BSONCore
@testable import BSONQuery

/// Without these an operator could fill the memory with an array before it refuses it.
@Suite struct ArrayLimitTests {
    /// An array of 40 different texts of 1 MiB, which ten times is more than an array may hold.
    private static func array(_ first: UInt8) -> BSONValue {
        let texts = (0..<40 as Range<UInt8>).map { number in
            let word = String(UnicodeScalar(first)) + String(UnicodeScalar(65 + number))
            return BSONValue.string(word + String(repeating: "x", count: 1 << 20))
        }
        return .array(BSONArray(texts))
    }

    private static let document: BSONDocument = [
        "a": array(97), "b": array(98), "few": .array([1, 2, 3]),
    ]

    private static func error(_ source: BSONValue, _ memory: MemoryBudget? = nil) -> StoreError? {
        do throws(StoreError) {
            let expression = try Expression(source)
            let budget = WorkBudget(memory: memory)
            _ = try budget.running { () throws(StoreError) in
                try expression.evaluate(document, ExpressionFrame(root: document))
            }
            return nil
        } catch {
            return error
        }
    }

    private static let both: BSONValue = .array(["$a", "$b"])
    private static let twice: BSONValue = ["$concatArrays": .array(["$few", "$a", "$a"])]

    /// Expressions whose result is an array of 80 MiB.
    private static let tooLarge: [String: BSONValue] = [
        "concatArrays": twice,
        "setUnion": ["$setUnion": both],
        "zip": ["$zip": ["inputs": both]],
        "array": .array(["$a", "$b"]),
        "map": ["$map": ["input": "$few", "in": "$a"]],
    ]

    @Test(arguments: ["concatArrays", "setUnion", "zip", "array", "map"])
    func `an operator refuses an array above the limit`(_ name: String) throws {
        let error = Self.error(try #require(Self.tooLarge[name]))
        #expect(error?.code.rawValue == 10334, "\(String(describing: error))")
    }

    @Test(arguments: ["concatArrays", "setUnion", "zip", "array", "map"])
    func `an operator counts an array while it builds it`(_ name: String) throws {
        // A command may hold 30 MiB here, less than one operand.
        let memory = MemoryBudget(bytesMax: 60 << 20)
        let error = Self.error(try #require(Self.tooLarge[name]), memory)
        #expect(error?.code == .queryExceededMemoryLimitNoDiskUseAllowed)
        #expect(error?.message.contains("one command may hold 31457280 bytes") == true)
        #expect(memory.bytes == 0)
    }

    @Test func `set operators refuse what their operands have too much of`() {
        let source: BSONDocument = ["$literal": Self.twiceAsLarge]
        for name in ["$setIntersection", "$setDifference", "$filter"] {
            let operand = BSONValue.document(source)
            let expression: BSONValue =
                name == "$filter"
                ? ["$filter": ["input": operand, "cond": true]]
                : .document([name: name == "$setDifference" ? [operand, []] : [operand, operand]])
            #expect(Self.error(expression)?.code.rawValue == 10334, "\(name)")
        }
    }

    private static let twiceAsLarge: BSONValue = {
        let all = [document["a"], document["b"]].compactMap { $0?.arrayValue?.values }
        return .array(BSONArray(all.flatMap { $0 }))
    }()

    @Test func `a union of repeated values counts each once`() {
        let operands = [BSONValue](repeating: "$a", count: 5)
        let union: BSONValue = ["$setUnion": .array(BSONArray(operands))]
        #expect(Self.error(union) == nil)
    }

    @Test func `a literal text of 16 MiB is refused, a shorter one is not`() {
        let most = BSONValue.string(String(repeating: "x", count: 16 << 20))
        #expect(Self.error(["$literal": most])?.code.rawValue == 16493)
        #expect(Self.error(["$const": .array([1, most])])?.code.rawValue == 16493)
        // As in the server, which does not copy the texts of a document.
        #expect(Self.error(["$literal": ["a": most]]) == nil)
        let less = BSONValue.string(String(repeating: "x", count: (16 << 20) - 1))
        #expect(Self.error(["$literal": less]) == nil)
    }
}
