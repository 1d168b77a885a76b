import BSONStore

/// Makes small documents, filters and updates over few keys, so that they meet often.
enum RandomQueries {
    private static let keys = ["a", "b", "0", "1"]
    private static let scalars: [BSONValue] = [
        0, 1, 2, 1.0, 2.5, -1, .int64(1), .int64(9_007_199_254_740_993), .double(.nan),
        .double(-0.0), "", "a", "b", true, false, .null, .minKey, .maxKey,
        .datetime(BSONDatetime(milliseconds: 5)), .decimal128(BSONDecimal128(Int64(1))),
        .decimal128(BSONDecimal128(high: 0x303E_0000_0000_0000, low: 25)),
        .timestamp(BSONTimestamp(seconds: 1, increment: 2)), .symbol("a"),
        .binary(BSONBinary([1, 2])), .binary(BSONBinary([1], subtype: 2)),
        .regularExpression(BSONRegularExpression("a", options: "i")), .javascript("a"),
    ]

    static func value(
        _ random: inout some RandomNumberGenerator, depth: Int = 3
    ) -> BSONValue {
        switch Int.random(in: 0..<(depth > 0 ? 10 : 6), using: &random) {
        case 6, 7: .document(document(&random, depth: depth - 1))
        case 8, 9:
            .array(
                BSONArray(
                    (0..<Int.random(in: 0..<4, using: &random)).map { _ in
                        value(&random, depth: depth - 1)
                    }))
        default: scalars.randomElement(using: &random) ?? .null
        }
    }

    static func document(
        _ random: inout some RandomNumberGenerator, depth: Int = 3
    ) -> BSONDocument {
        var document = BSONDocument()
        for key in keys where Bool.random(using: &random) {
            document.append(key, value(&random, depth: depth))
        }
        return document
    }

    static func path(_ random: inout some RandomNumberGenerator) -> String {
        (0..<Int.random(in: 1...3, using: &random))
            .map { _ in keys.randomElement(using: &random) ?? "a" }.joined(separator: ".")
    }

    /// A value that a filter may hold as a constant.
    private static func constant(_ random: inout some RandomNumberGenerator) -> BSONValue {
        while true {
            let value = value(&random, depth: 2)
            if case .regularExpression = value { continue }
            return value
        }
    }

    static func filter(
        _ random: inout some RandomNumberGenerator, depth: Int
    ) -> BSONDocument {
        if depth > 0, Int.random(in: 0..<3, using: &random) == 0 {
            let clauses = (0..<Int.random(in: 1...3, using: &random)).map { _ in
                BSONValue.document(filter(&random, depth: depth - 1))
            }
            let key = ["$and", "$or", "$nor"].randomElement(using: &random) ?? "$and"
            return [key: .array(BSONArray(clauses))]
        }
        var conditions = BSONDocument()
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            conditions[path(&random)] = condition(&random, depth: depth)
        }
        return conditions
    }

    private static func condition(
        _ random: inout some RandomNumberGenerator, depth: Int
    ) -> BSONValue {
        let operators = ["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"]
        switch Int.random(in: 0..<14, using: &random) {
        case 0, 1: return constant(&random)
        case 2...4: return [operators.randomElement(using: &random) ?? "$eq": constant(&random)]
        case 5:
            let members = (0..<3).map { _ in constant(&random) }
            return [Bool.random(using: &random) ? "$in" : "$nin": .array(BSONArray(members))]
        case 6: return ["$exists": .bool(Bool.random(using: &random))]
        case 7: return ["$size": .int32(Int32.random(in: 0..<3, using: &random))]
        case 9:
            let members = (0..<2).map { _ in constant(&random) }
            return ["$all": .array(BSONArray(members))]
        case 10:
            let tests = ["$bitsAllSet", "$bitsAnySet", "$bitsAllClear", "$bitsAnyClear"]
            let positions = (0..<2).map { _ in BSONValue.int32(.random(in: 0..<66, using: &random))
            }
            return [
                tests.randomElement(using: &random) ?? "$bitsAllSet": .array(BSONArray(positions))
            ]
        case 11: return ["$mod": [.int32(Int32.random(in: 1..<4, using: &random)), 1]]
        case 12: return ["$in": [.null, constant(&random)]]
        case 8:
            return ["$not": [operators.randomElement(using: &random) ?? "$eq": constant(&random)]]
        default:
            guard depth > 0 else { return ["$type": "number"] }
            if Bool.random(using: &random) {
                return ["$elemMatch": .document(filter(&random, depth: depth - 1))]
            }
            return ["$elemMatch": ["$gte": constant(&random), "$ne": constant(&random)]]
        }
    }

    /// A value with its number made likely to be close to another in base two and base ten.
    static func key(_ random: inout some RandomNumberGenerator) -> BSONValue {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return .int64(9_007_199_254_740_990 + Int64.random(in: 0..<8, using: &random))
        case 1:
            return .double(9_007_199_254_740_990 + Double(Int.random(in: 0..<8, using: &random)))
        case 2: return .int64(Int64.max - Int64.random(in: 0..<2_000, using: &random))
        case 3:
            let coefficient = UInt64.random(in: 0..<40, using: &random)
            let exponent = UInt64(6176 + Int.random(in: -3...2, using: &random))
            let sign: UInt64 = Bool.random(using: &random) ? 1 << 63 : 0
            return .decimal128(BSONDecimal128(high: sign | exponent << 49, low: coefficient))
        case 4:
            return .double([0.1, 0.25, 1e22, -0.1, .infinity].randomElement(using: &random) ?? 0)
        default: return value(&random)
        }
    }

    static func update(_ random: inout some RandomNumberGenerator) -> BSONDocument {
        let operators = [
            "$set", "$unset", "$inc", "$mul", "$min", "$max", "$push", "$addToSet", "$pull",
            "$pullAll", "$pop", "$rename", "$bit", "$setOnInsert",
        ]
        var update = BSONDocument()
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let key = operators.randomElement(using: &random) ?? "$set"
            let path = Int.random(in: 0..<10, using: &random) == 0 ? "_id" : path(&random)
            var operand = value(&random, depth: 2)
            switch key {
            case "$inc", "$mul": operand = Bool.random(using: &random) ? 1 : operand
            case "$pop": operand = 1
            case "$rename": operand = .string(Self.path(&random))
            case "$bit": operand = ["or": 1]
            case "$pullAll": operand = [operand]
            default: break
            }
            update[key] = [path: operand]
        }
        return update
    }
}
