import BSONStore
import Testing

/// A window's value does not depend on how it was reached from the window before.
struct SlidingWindowTests {
    private static func value(_ dice: inout SeededGenerator) -> BSONValue {
        switch Int.random(in: 0..<8, using: &dice) {
        case 0: .null
        case 1: .string(["a", "B", "c"].randomElement(using: &dice) ?? "a")
        case 2: .double(Double(Int.random(in: -9...9, using: &dice)) / 2)
        case 3: .double([.infinity, -.infinity, .nan].randomElement(using: &dice) ?? 0)
        case 4: .int64(Int64.random(in: -9...9, using: &dice))
        case 5: .decimal128(BSONDecimal128(Int64.random(in: -9...9, using: &dice)))
        default: .int32(Int32.random(in: -9...9, using: &dice))
        }
    }

    private static func bounds(
        _ dice: inout SeededGenerator, _ last: BSONValue
    ) -> BSONValue {
        let ends = (0..<2).map { _ in Int32.random(in: -5...5, using: &dice) }.sorted()
        return switch Int.random(in: 0..<4, using: &dice) {
        case 0: ["current", last]
        case 1: [.int32(min(ends[0], 0)), "current"]
        case 2: [.int32(ends[0]), last]
        default: [.int32(ends[0]), .int32(ends[1])]
        }
    }

    @Test(arguments: 0..<40)
    func `a sliding window has the values of its documents`(seed: UInt64) throws {
        var dice = SeededGenerator(seed: seed)
        let store = try DocumentStore(at: .inMemory)
        defer { store.close() }
        let items = store.collection(Namespace("app", "items"))
        // Several documents have the same place, which a window by range takes together.
        try items.insertMany(
            (0..<Int.random(in: 1...40, using: &dice)).map {
                [
                    "_id": .int32(Int32($0)), "v": Self.value(&dice),
                    "at": .int32(Int32.random(in: 0...20, using: &dice)),
                ]
            })
        let measure = seed.isMultiple(of: 2) ? "documents" : "range"
        let bounds = Self.bounds(&dice, "unbounded")
        let window: BSONValue = [measure: bounds]
        // As in the server, of equal greatest values the last stays where windows lose documents.
        let isGrowing = bounds.arrayValue?.values.first == "unbounded"
        let values: [String: BSONValue] = isGrowing ? [:] : ["$max": ["$reverseArray": "$w"]]
        let names = ["$sum", "$avg", "$min", "$max", "$first", "$last"]
        var output: BSONDocument = ["w": ["$push": "$v", "window": window]]
        for name in names { output.append("x" + name.dropFirst(), [name: "$v", "window": window]) }
        let found = try items.aggregate([
            ["$setWindowFields": ["sortBy": ["at": 1], "output": .document(output)]],
            [
                "$set": .document(
                    BSONDocument(
                        names.map { ("y" + $0.dropFirst(), [$0: values[$0] ?? "$w"]) }))
            ],
        ])
        #expect(!found.isEmpty)
        for document in found {
            for name in names {
                let (got, wanted) = (
                    document["x" + name.dropFirst()], document["y" + name.dropFirst()] ?? .null
                )
                #expect(got == wanted, "\(name) of \(document["w"] ?? .null)")
            }
        }
    }
}
