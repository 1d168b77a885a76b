import BSONStore

/// Makes documents of the benchmark's shapes where its files are not at hand.
enum GeneratedDocument {
    private static func text(_ count: Int, _ seed: Int) -> String {
        var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1
        return String(
            (0..<count).map { _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return Character(UnicodeScalar(UInt8(97 + (state >> 33) % 26)))
            })
    }

    /// 145 fields of scalars, about 6 KB.
    static func flat() -> BSONDocument {
        BSONDocument(
            (0..<145).map { index -> (String, BSONValue) in
                let key = text(8, index)
                switch index % 6 {
                case 0, 3: return (key, .string(text(80, index + 1000)))
                case 1: return (key, .int32(Int32(index * 7)))
                case 2: return (key, .int64(Int64(index) << 40))
                case 4: return (key, .double(Double(index) * 1.25))
                default: return (key, .bool(index.isMultiple(of: 2)))
                }
            })
    }

    /// A binary tree of documents, 6 levels.
    static func deep() -> BSONDocument { tree(6, 1) }

    private static func tree(_ levels: Int, _ seed: Int) -> BSONDocument {
        guard levels > 0 else {
            return [
                "rightValue": .string(text(8, seed)), "leftValue": .string(text(8, seed + 500)),
            ]
        }
        return [
            "right": .document(tree(levels - 1, seed * 2)),
            "left": .document(tree(levels - 1, seed * 2 + 1)),
        ]
    }

    /// 91 fields of every type that is not deprecated, about 4 KB.
    static func full() -> BSONDocument {
        BSONDocument(
            (0..<91).map { index -> (String, BSONValue) in (text(8, index), value(index)) })
    }

    private static func value(_ index: Int) -> BSONValue {
        switch index % 13 {
        case 0: .string(text(80, index))
        case 1: .double(Double(index) / 3)
        case 2: .int64(Int64(index) << 33)
        case 3: .int32(Int32(index))
        case 4: .bool(true)
        case 5: .minKey
        case 6: .maxKey
        case 7: .binary(BSONBinary(Array(text(80, index).utf8)))
        case 8: .datetime(BSONDatetime(milliseconds: Int64(index) * 1_000_000_000))
        case 9: .regularExpression(BSONRegularExpression(text(20, index), options: "i"))
        case 10: .javascript(text(80, index))
        case 11:
            .javascriptWithScope(
                BSONJavaScriptWithScope(code: text(80, index), scope: ["a": 1, "b": 2]))
        default: .timestamp(BSONTimestamp(seconds: UInt32(index), increment: 1))
        }
    }
}
