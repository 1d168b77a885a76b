import BSONStore

/// Repeats the same numbers for the same seed (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}

/// Makes random values of every BSON type; few distinct leaves, so that equal ones meet.
struct RandomBSON {
    private var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &generator) }

    mutating func pick<C: Collection>(_ choices: C) -> C.Element {
        choices[choices.index(choices.startIndex, offsetBy: number(0..<choices.count))]
    }

    mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }

    mutating func shuffled<T>(_ values: [T]) -> [T] { values.shuffled(using: &generator) }

    mutating func key() -> String {
        pick(["a", "b", "c", "_id", "", "long key beyond one word", "é", "$x", "0", "a.b", "😀"])
    }

    mutating func text() -> String {
        pick(["", "a", "b", "ab", "a\0b", "é", "zz", "\u{10FFFF}", "a rather long string of text"])
    }

    /// A document whose keys are distinct.
    mutating func document(depth: Int = 3) -> BSONDocument {
        var document = BSONDocument()
        for _ in 0..<number(0..<6) {
            let key = key()
            if document[key] == nil { document.append(key, value(depth: depth)) }
        }
        return document
    }

    mutating func array(depth: Int) -> BSONArray {
        BSONArray((0..<number(0..<5)).map { _ in value(depth: depth) })
    }

    mutating func value(depth: Int = 3) -> BSONValue {
        let kinds = depth > 0 ? 21 : 18
        switch number(0..<kinds) {
        case 0: return .double(double())
        case 1: return .string(text())
        case 2: return .binary(BSONBinary(bytes(number(0..<4)), subtype: pick([0, 2, 4, 128])))
        case 3: return .undefined
        case 4: return .objectID(objectID())
        case 5: return .bool(number(0..<2) == 0)
        case 6: return .datetime(BSONDatetime(milliseconds: integer()))
        case 7: return .null
        case 8: return .regularExpression(BSONRegularExpression(pick(["a", "b"]), options: "i"))
        case 9: return .dbPointer(BSONDBPointer(namespace: text(), id: objectID()))
        case 10: return .javascript(text())
        case 11: return .symbol(text())
        case 12: return .int32(Int32(truncatingIfNeeded: integer()))
        case 13:
            return .timestamp(
                BSONTimestamp(
                    seconds: UInt32(number(0..<3)),
                    increment: pick([0, 1, 0x8000_0000, 0xFFFF_FFFF])))
        case 14: return .int64(integer())
        case 15: return .decimal128(decimal())
        case 16: return .minKey
        case 17: return .maxKey
        case 18: return .document(document(depth: depth - 1))
        case 19: return .array(array(depth: depth - 1))
        default:
            return .javascriptWithScope(
                BSONJavaScriptWithScope(code: text(), scope: document(depth: depth - 1)))
        }
    }

    mutating func objectID() -> BSONObjectID {
        guard let id = BSONObjectID(bytes: [0, 0, 0, 0, 0, 0, 0, pick([0, 255]), 0, 0, 0, 1])
        else { preconditionFailure("12 bytes are an ObjectId") }
        return id
    }

    mutating func integer() -> Int64 {
        let choices: [Int64] = [
            0, 1, -1, 2, 10, 9_007_199_254_740_992, 9_007_199_254_740_993, -9_007_199_254_740_993,
            .max, .max - 1, .min, .min + 1, 1_000_000,
        ]
        return pick(choices)
    }

    mutating func double() -> Double {
        let choices: [Double] = [
            0, -0.0, 1, -1, 0.1, 0.5, 2, 1e6, 0x1p53, 0x1p63, -0x1p63, 1e300, -1e300,
            .leastNonzeroMagnitude,
            .infinity, -.infinity, .nan, .greatestFiniteMagnitude, 1e22, 1e23, 10,
        ]
        return pick(choices)
    }

    /// A decimal of few digits, often equal to one of the doubles and integers.
    mutating func decimal() -> BSONDecimal128 {
        let special: [UInt64] = [0x7C00 << 48, 0x7800 << 48, 0xF800 << 48, 0xFC00 << 48]
        if number(0..<8) == 0 { return BSONDecimal128(high: pick(special), low: 0) }
        let exponent = pick([0, 0, 0, -1, 1, 6, -2, 22, 23, 33, -34, 300, -324, 6000, -6176, 6111])
        let coefficient: UInt64 = pick([
            0, 1, 5, 10, 100, 9_007_199_254_740_993, 9_223_372_036_854_775_807,
            9_223_372_036_854_775_808, 1_000_000, 494_065,
        ])
        let sign: UInt64 = number(0..<3) == 0 ? 1 << 63 : 0
        return BSONDecimal128(high: sign | UInt64(exponent + 6176) << 49, low: coefficient)
    }
}
