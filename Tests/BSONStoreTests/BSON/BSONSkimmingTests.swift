import Testing

@testable import BSONCore
@testable import BSONStore

/// Without these, the short way through a document could let pass what the long way refuses.
struct BSONSkimmingTests {
    /// What is wrong with bytes, by the long way; `nil` when nothing is.
    private func fault(_ bytes: [UInt8]) -> BSONError? {
        bytes.withUnsafeBytes { bytes in
            withUnsafeTemporaryAllocation(of: Int.self, capacity: 100) { ends in
                guard let base = bytes.baseAddress, let stack = ends.baseAddress else { return nil }
                var walk = BSONStructureValidator(
                    base: base, count: bytes.count, ends: stack, depthMax: 100, depthLimit: 100)
                do throws(BSONError) {
                    try walk.run(skimming: false)
                    return nil
                } catch { return error }
            }
        }
    }

    /// What is wrong with bytes, by the short way as far as it leads.
    private func skimmedFault(_ bytes: [UInt8]) -> BSONError? {
        bytes.withUnsafeBytes { bytes in
            do throws(BSONError) {
                try BSONValidator.validate(bytes)
                return nil
            } catch { return error }
        }
    }

    private static let documents: [BSONDocument] = [
        ["a": 1, "b": .int64(2), "c": 1.5, "d": true, "e": .null, "f": "text", "g": ""],
        ["": "é", "é": "ascii", "a key of more than eight bytes": "ä", "k": "abcdefgh"],
        ["t7": "1234567", "t8": "12345678", "t15": "123456789012345", "t16": "1234567890123456"],
        ["t17": "12345678901234567", "t24": "123456789012345678901234", "n": ["a": ["b": "c"]]],
        ["list": ["x", 1, false, ["y": .null]], "end": .datetime(BSONDatetime(milliseconds: 1))],
        [
            "id": .objectID(BSONObjectID(bigEndianHigh: 1, low: 2)), "min": .minKey,
            "max": .maxKey, "undefined": .undefined, "code": .javascript("f()"),
            "symbol": .symbol("s"), "stamp": .timestamp(BSONTimestamp(seconds: 1, increment: 2)),
        ],
    ]

    @Test(arguments: documents)
    func `every change of a byte is judged as without it`(_ document: BSONDocument) {
        let bytes = document.bytes
        #expect(skimmedFault(bytes) == nil)
        for at in 4..<bytes.count {
            for value in UInt8.min...UInt8.max where value != bytes[at] {
                var changed = bytes
                changed[at] = value
                let short = skimmedFault(changed)
                let long = fault(changed)
                guard short != long else { continue }
                Issue.record("byte \(at) as \(value): \(String(describing: short))")
                return
            }
        }
    }

    @Test func `random documents with random faults are judged as without it`() {
        var random = RandomBSON(seed: 7)
        for _ in 0..<5_000 {
            var bytes = random.document().bytes
            for _ in 0..<random.number(0..<3) {
                bytes[4 + random.number(0..<(bytes.count - 4))] = UInt8(random.number(0..<256))
            }
            #expect(skimmedFault(bytes) == fault(bytes))
        }
    }
}
