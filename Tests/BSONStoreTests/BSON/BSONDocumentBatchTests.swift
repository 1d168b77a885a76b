import Testing

@testable import BSONCore
@testable import BSONStore

/// Without these, documents that share bytes could run into each other.
struct BSONDocumentBatchTests {
    private func documents(_ sizes: [Int]) -> [BSONDocument] {
        sizes.enumerated().map { index, size in
            ["n": .int32(Int32(index)), "text": .string(String(repeating: "x", count: size))]
        }
    }

    private func batch(_ documents: [BSONDocument]) -> [BSONDocument] {
        var batch = BSONDocumentBatch()
        for document in documents { document.withUnsafeBytes { batch.append($0) } }
        return batch.finish()
    }

    @Test(arguments: [
        [], [0], [10, 20], Array(repeating: 300, count: 200), [5_000], [5_000, 1, 5_000, 1, 2],
        [1, 2_010, 2_011, 2_012, 2_013, 2_014, 2_015, 2_016, 2_017, 2_018, 2_019, 2_020, 3],
        Array(0..<300), Array(repeating: 2_000, count: 30), [20_000, 20_000],
    ])
    func `documents come back byte for byte and in order`(_ sizes: [Int]) {
        let given = documents(sizes)
        let found = batch(given)
        #expect(found == given)
        #expect(found.map(\.bytes) == given.map(\.bytes))
    }

    @Test func `a change of one document leaves those beside it alone`() {
        let given = documents([10, 20, 30])
        var found = batch(given)
        found[1]["text"] = "a longer text than was there before, which moves what is behind it"
        found[1].append("more", 1)
        #expect(found[0] == given[0])
        #expect(found[2] == given[2])
        #expect(found[1]["n"] == 1)
        #expect(found[1]["more"] == 1)
    }

    @Test func `a document keeps no more than a run of others alive`() {
        let found = batch(documents(Array(repeating: 100, count: 1_000)))
        #expect(found.allSatisfy { $0.buffer.capacity <= 2 * BSONDocumentBatch.runBytesMax })
        let few = batch(documents([10, 10]))
        #expect(few.allSatisfy { $0.buffer.capacity < 1_024 })
    }
}
