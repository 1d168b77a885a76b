import BSONStore
import BenchmarkBaseline

/// The rows of the builder with keys that are literals, over a document of the flat one's shape.
enum StaticKeyRows {
    private static let keys: [StaticString] = [
        "jtsdhwka", "mohuzplb", "pqrvmmcd", "wxyzabcd", "efghijkl", "mnopqrst", "uvwxyzab",
        "cdefghij", "klmnopqr", "stuvwxyz", "abcdefgh", "ijklmnop", "qrstuvwx", "yzabcdef",
        "ghijklmn", "opqrstuv", "wxyzbcde", "fghijklo", "pqrstuvy", "zabcdefh", "ijklmnoq",
        "rstuvwxa", "bcdefghk", "lmnopqrt",
    ]
    private static let text = String(repeating: "lorem ipsum dolor sit ", count: 4)

    /// 144 fields: a third texts of 88 bytes, the rest numbers and booleans.
    static func build() -> BSONDocument {
        BSONDocument.build(reservingBytes: 8192) { builder in
            for turn in 0..<6 {
                for index in stride(from: 0, to: 24, by: 6) {
                    builder.append(keys[index], string: text)
                    builder.append(keys[index + 1], int32: Int32(truncatingIfNeeded: turn))
                    builder.append(keys[index + 2], int64: Int64(index) << 33)
                    builder.append(keys[index + 3], string: text)
                    builder.append(keys[index + 4], double: Double(index))
                    builder.append(keys[index + 5], bool: turn > 2)
                }
            }
        }
    }

    static func row() -> Row {
        let subject = Subject(name: "static", document: build())
        return Row(
            name: "typed builder with static keys", gate: 0.3, goal: 0.12,
            baseline: { baseline_keep(baseline_encode(subject.baseline, $0)) },
            ours: { count in for _ in 0..<count { CoreRows.keep(build()) } })
    }

    static func allocations() -> AllocationRow {
        AllocationRow(name: "typed builder with static keys", gate: 3, goal: 2) { count in
            for _ in 0..<count { CoreRows.keep(build()) }
        }
    }
}
