import BSONStore
import Testing

@testable import StitchSync

/// A wrong merge loses one side's field without anybody being asked.
struct ThreeWayMergeTests {
    struct Case: Sendable, CustomStringConvertible {
        let description: String
        var base: BSONDocument?
        let local: BSONDocument
        let remote: BSONDocument
        let merged: BSONDocument
        var overlaps: [String] = []
    }

    static let cases: [Case] = [
        Case(
            description: "different fields", base: ["a": 0, "b": 0], local: ["a": 1, "b": 0],
            remote: ["a": 0, "b": 2], merged: ["a": 1, "b": 2]),
        Case(
            description: "nested fields", base: ["n": ["a": 0, "b": 0]],
            local: ["n": ["a": 1, "b": 0]], remote: ["n": ["a": 0, "b": 2]],
            merged: ["n": ["a": 1, "b": 2]]),
        Case(
            description: "the same change", base: ["a": 0], local: ["a": 1], remote: ["a": 1],
            merged: ["a": 1]),
        Case(
            description: "removed here", base: ["a": 0, "b": 0], local: ["b": 0],
            remote: ["a": 0, "b": 1], merged: ["b": 1]),
        Case(
            description: "removed there, added here", base: ["a": 0], local: ["a": 0, "c": 1],
            remote: [:], merged: ["c": 1]),
        Case(
            description: "overlap takes the remote", base: ["a": 0], local: ["a": 1],
            remote: ["a": 2], merged: ["a": 2], overlaps: ["a"]),
        Case(
            description: "changed here, removed there", base: ["a": 0, "b": 0],
            local: ["a": 1, "b": 0], remote: ["b": 0], merged: ["b": 0], overlaps: ["a"]),
        Case(
            description: "no base", local: ["_id": 1, "a": 1, "c": 3],
            remote: ["_id": 1, "b": 2, "c": 4], merged: ["_id": 1, "b": 2, "c": 4, "a": 1],
            overlaps: ["c"]),
        Case(
            description: "counters add up", base: ["hits": 10], local: ["hits": 13],
            remote: ["hits": 11], merged: ["hits": 14]),
        Case(
            description: "equal counts add up, too", base: ["hits": 10, "a": 0],
            local: ["hits": 11, "a": 1], remote: ["hits": 11, "a": 1],
            merged: ["hits": 12, "a": 1]),
        Case(
            description: "a counter that both made something else of", base: ["hits": 10],
            local: ["hits": "ten"], remote: ["hits": "ten"], merged: ["hits": "ten"]),
        Case(
            description: "a counter that overflows widens", base: ["hits": 0],
            local: ["hits": .int32(.max)], remote: ["hits": 1],
            merged: ["hits": .int64(Int64(Int32.max) + 1)]),
        Case(
            description: "a number of another type is the same element of a set",
            base: ["tags": [1, 2, 3]], local: ["tags": [.int64(1), 2.0, 3, 4.0]],
            remote: ["tags": [1.0, .int64(2), 4]], merged: ["tags": [1.0, .int64(2), 4]]),
        Case(
            description: "arrays as sets", base: ["tags": ["a", "b"]],
            local: ["tags": ["b", "c"]], remote: ["tags": ["a", "b", "d"]],
            merged: ["tags": ["b", "d", "c"]]),
        Case(
            description: "arrays as values", base: ["list": [1]], local: ["list": [1, 2]],
            remote: ["list": [1, 3]], merged: ["list": [1, 3]], overlaps: ["list"]),
        Case(
            description: "counters of doubles", base: ["hits": 1.0], local: ["hits": 2.5],
            remote: ["hits": 1.5], merged: ["hits": 3.0]),
        Case(
            description: "a counter without a base", base: [:], local: ["hits": 2],
            remote: ["hits": 3], merged: ["hits": 5]),
        Case(
            description: "a counter that was removed here", base: ["hits": 1], local: [:],
            remote: ["hits": 2], merged: ["hits": 2], overlaps: ["hits"]),
        Case(
            description: "a counter that was removed there", base: ["hits": 1],
            local: ["hits": 2], remote: [:], merged: [:], overlaps: ["hits"]),
        Case(
            description: "a counter that is none any more", base: ["hits": 1],
            local: ["hits": "two"], remote: ["hits": 3], merged: ["hits": 3], overlaps: ["hits"]),
        Case(
            description: "a counter that does not fit", base: ["hits": .int64(0)],
            local: ["hits": .int64(.max)], remote: ["hits": .int64(5)],
            merged: ["hits": .int64(5)], overlaps: ["hits"]),
        Case(
            description: "a counter whose difference does not fit", base: ["hits": .int64(.min)],
            local: ["hits": .int64(5)], remote: ["hits": .int64(6)],
            merged: ["hits": .int64(6)], overlaps: ["hits"]),
        Case(
            description: "documents without a base", base: [:], local: ["n": ["a": 1]],
            remote: ["n": ["b": 2]], merged: ["n": ["b": 2, "a": 1]]),
        Case(
            description: "arrays without a base", base: [:], local: ["tags": ["a", "b"]],
            remote: ["tags": ["b"]], merged: ["tags": ["b", "a"]]),
        Case(
            description: "an array that is none any more", base: ["tags": ["a"]],
            local: ["tags": "a"], remote: ["tags": ["b"]], merged: ["tags": ["b"]],
            overlaps: ["tags"]),
        Case(
            description: "types count", base: ["a": 1], local: ["a": .int64(1)],
            remote: ["a": 1, "b": 1], merged: ["a": .int64(1), "b": 1]),
    ]

    @Test("merges by field path", arguments: cases)
    func merges(one: Case) {
        let merge = ThreeWayMerge(counters: ["hits"], arrays: ["tags"])
        let result = merge.merge(base: one.base, local: one.local, remote: one.remote)
        #expect(result.document == one.merged)
        #expect(result.overlaps == one.overlaps)
    }

    @Test("equal counts that may be one change are one", arguments: [true, false])
    func mayBeOneChange(mayHaveLanded: Bool) {
        let merge = ThreeWayMerge(counters: ["hits"])
        let both: BSONDocument = ["_id": 1, "hits": 11]
        let result = merge.merge(
            Conflict(
                namespace: Namespace("a", "b"), documentID: 1, base: ["_id": 1, "hits": 10],
                local: both, remote: both, mayHaveLanded: mayHaveLanded))
        #expect(result?.document == ["_id": 1, "hits": mayHaveLanded ? 11 : 12])
    }

    @Test("a side that changed nothing gives the other's document", arguments: cases)
    func identity(one: Case) {
        guard let base = one.base else { return }
        let merge = ThreeWayMerge()
        #expect(
            merge.merge(base: base, local: one.local, remote: base).document
                .contentEquals(one.local))
        #expect(merge.merge(base: base, local: base, remote: one.remote).document == one.remote)
    }

    @Test("counters add up across the types of numbers, as $inc does")
    func counterTypes() throws {
        let decimal = BSONValue.decimal128(try BSONDecimal128("2.50"))
        let cases: [(base: BSONValue?, local: BSONValue, remote: BSONValue, sum: BSONValue?)] = [
            (.int32(10), .int64(13), .int32(11), .int64(14)),
            (.int32(10), .int32(13), .int64(11), .int64(14)),
            (.int32(10), .double(12.5), .int32(11), .double(13.5)),
            (.double(1), .int32(3), .double(2), .double(4)),
            (.double(1), .int64(3), .int32(2), .double(4)),
            (.int32(0), decimal, .int32(1), .decimal128(try BSONDecimal128("3.50"))),
            (decimal, .int32(4), .double(2.5), .decimal128(try BSONDecimal128("4.00000000000000"))),
            (nil, .int64(2), .double(0.5), .double(2.5)),
            (.int32(.min), .int32(.max), .int32(.min), .int32(.max)),
            (.int32(0), .int32(.max), .int32(.max), .int64(Int64(Int32.max) * 2)),
            (.int64(0), .int64(.max), .int64(1), nil), (.int64(.min), .int64(1), .int64(0), nil),
            (.int64(0), .int64(.max), .double(1), .double(0x1p63)),
            (.double(0), .double(.infinity), .double(1), nil),
            (.double(0), .double(.nan), .double(1), nil),
            (
                .double(-.greatestFiniteMagnitude), .double(.greatestFiniteMagnitude), .double(0),
                nil
            ),
            (.int32(0), .decimal128(.infinity), .int32(1), nil),
            (.int32(0), "1", .int32(2), nil), (.bool(true), .int32(1), .int32(2), nil),
        ]
        for (base, local, remote, sum) in cases {
            let result = ThreeWayMerge(counters: ["n"]).merge(
                base: base.map { ["n": $0] }, local: ["n": local], remote: ["n": remote])
            let text = "\(String(describing: base)) \(local) \(remote)"
            #expect(result.overlaps == (sum == nil ? ["n"] : []), "\(text)")
            let (found, wanted) = (result.document["n"], sum ?? remote)
            #expect(found?.type == wanted.type, "\(text)")
            #expect(
                found.map { BSONOrder.compare($0, wanted) } == .equal,
                "\(text): \(String(describing: found))")
        }
    }

    static let keyed: [Case] = [
        Case(
            description: "one element, different fields",
            base: ["items": [["id": 1, "n": 0, "q": 0], ["id": 2]]],
            local: ["items": [["id": 1, "n": 1, "q": 0], ["id": 2]]],
            remote: ["items": [["id": 1, "n": 0, "q": 2, "new": 1], ["id": 2]]],
            merged: ["items": [["id": 1, "n": 1, "q": 2, "new": 1], ["id": 2]]]),
        Case(
            description: "one field of one element", base: ["items": [["_id": 1, "n": 0]]],
            local: ["items": [["_id": 1, "n": 1]]], remote: ["items": [["_id": 1, "n": 2]]],
            merged: ["items": [["_id": 1, "n": 2]]], overlaps: ["items.0.n"]),
        Case(
            description: "added on both sides", base: ["items": [["id": 1]]],
            local: ["items": [["id": 1], ["id": 2]]],
            remote: ["items": [["id": 0], ["id": 1], ["id": 3]]],
            merged: ["items": [["id": 0], ["id": 1], ["id": 3], ["id": 2]]]),
        Case(
            description: "one id added on both sides", base: ["items": []],
            local: ["items": [["id": 1, "a": 1]]], remote: ["items": [["id": 1, "b": 2]]],
            merged: ["items": [["id": 1, "b": 2, "a": 1]]]),
        Case(
            description: "removed on each side",
            base: ["items": [["id": 1], ["id": 2], ["id": 3]]],
            local: ["items": [["id": 2], ["id": 3]]], remote: ["items": [["id": 1], ["id": 2]]],
            merged: ["items": [["id": 2]]]),
        Case(
            description: "removed here, edited there",
            base: ["items": [["id": 1, "n": 0], ["id": 2, "n": 0]]],
            local: ["items": [["id": 2, "n": 5]]],
            remote: ["items": [["id": 1, "n": 1], ["id": 2, "n": 0]]],
            merged: ["items": [["id": 1, "n": 1], ["id": 2, "n": 5]]], overlaps: ["items.0"]),
        Case(
            description: "edited here, removed there", base: ["items": [["id": 1, "n": 0]]],
            local: ["items": [["id": 1, "n": 1]]], remote: ["items": []],
            merged: ["items": []], overlaps: ["items.0"]),
        Case(
            description: "moved here, edited there",
            base: ["items": [["id": 1], ["id": 2], ["id": 3]]],
            local: ["items": [["id": 3], ["id": 1], ["id": 2]]],
            remote: ["items": [["id": 1], ["id": 2, "n": 1], ["id": 3], ["id": 4]]],
            merged: ["items": [["id": 3], ["id": 4], ["id": 1], ["id": 2, "n": 1]]]),
        Case(
            description: "moved on both sides", base: ["items": [["id": 1], ["id": 2], ["id": 3]]],
            local: ["items": [["id": 3], ["id": 1], ["id": 2]]],
            remote: ["items": [["id": 2], ["id": 1], ["id": 3]]],
            merged: ["items": [["id": 2], ["id": 1], ["id": 3]]]),
        Case(
            description: "ids of other widths are one id",
            base: ["items": [["id": 1, "a": 0, "b": 0]]],
            local: ["items": [["id": .int64(1), "a": 1, "b": 0]]],
            remote: ["items": [["id": 1, "a": 0, "b": 2]]],
            merged: ["items": [["id": .int64(1), "a": 1, "b": 2]]]),
        Case(
            description: "an element without an id", base: ["items": [["id": 1]]],
            local: ["items": [["id": 1], ["n": 1]]], remote: ["items": [["id": 1], ["id": 2]]],
            merged: ["items": [["id": 1], ["id": 2]]], overlaps: ["items"]),
        Case(
            description: "two elements of one id", base: ["items": [["id": 1]]],
            local: ["items": [["id": 1], ["id": 1]]], remote: ["items": [["id": 1], ["id": 2]]],
            merged: ["items": [["id": 1], ["id": 2]]], overlaps: ["items"]),
        Case(
            description: "a counter, a set and an array within elements",
            base: ["items": [["id": 1, "hits": 1, "tags": ["a"], "parts": [["id": 9]]]]],
            local: [
                "items": [["id": 1, "hits": 3, "tags": ["a", "b"], "parts": [["id": 9, "x": 1]]]]
            ],
            remote: [
                "items": [["id": 1, "hits": 2, "tags": ["c"], "parts": [["id": 9, "y": 2]]]]
            ],
            merged: [
                "items": [
                    [
                        "id": 1, "hits": 4, "tags": ["c", "b"],
                        "parts": [["id": 9, "y": 2, "x": 1]],
                    ]
                ]
            ]),
    ]

    @Test("arrays with ids merge element by element", arguments: keyed)
    func mergesByID(one: Case) {
        let merge = ThreeWayMerge(
            counters: ["items.hits"], arrays: ["items.tags"], arraysByID: ["items", "items.parts"])
        let result = merge.merge(base: one.base, local: one.local, remote: one.remote)
        #expect(result.document == one.merged, "\(result.document)")
        #expect(result.overlaps == one.overlaps)
        guard let base = one.base else { return }
        #expect(merge.merge(base: base, local: one.local, remote: base).document == one.local)
        #expect(merge.merge(base: base, local: base, remote: one.remote).document == one.remote)
    }

    @Test("documents of many fields merge as those of few", arguments: [3, 12, 13, 400])
    func manyFields(count: Int32) {
        /// A field for each number; each third is as one of the values says.
        func document(_ values: (Int32) -> [Int32?]) -> BSONDocument {
            var document = BSONDocument()
            for n in 0..<count {
                if let value = values(n)[Int(n % 3)] { document.append("f\(n)", .int32(value)) }
            }
            return document
        }
        let base = document { [$0, $0, $0] }
        let local = document { [-1 - $0, $0, $0] }
        let remote = document { [$0, nil, 1_000 + $0] }
        let result = ThreeWayMerge().merge(base: base, local: local, remote: remote)
        #expect(result.overlaps.isEmpty)
        #expect(result.document == document { [-1 - $0, nil, 1_000 + $0] })
    }

    @Test("both spellings of an accent are two fields")
    func spellings() {
        let (composed, decomposed) = ("caf\u{e9}", "cafe\u{301}")
        func document(_ first: Int32, _ second: Int32) -> BSONDocument {
            var document = BSONDocument()
            document.append(composed, .int32(first))
            document.append(decomposed, .int32(second))
            return document
        }
        func merged(_ merge: ThreeWayMerge) -> ThreeWayMerge.Result {
            merge.merge(
                base: document(0, 0), local: document(1, 1), remote: document(2, 2))
        }
        let both = merged(
            ThreeWayMerge(counterPaths: [composed, decomposed], arrayPaths: []))
        #expect(both.document == document(3, 3) && both.overlaps.isEmpty)
        let first = merged(ThreeWayMerge(counterPaths: [composed], arrayPaths: []))
        #expect(first.document == document(3, 2) && first.overlaps.count == 1)
        let second = merged(ThreeWayMerge(counters: [decomposed]))
        #expect(second.document == document(2, 3) && second.overlaps.count == 1)
        var changed = ThreeWayMerge()
        changed.counters = [composed]
        #expect(changed.counters == [composed])
        #expect(merged(changed).document == document(3, 2))
    }
}
