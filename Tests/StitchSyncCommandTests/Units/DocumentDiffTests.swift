import BSONStore
import StitchSync
import Testing

@testable import StitchSyncCommand

/// Without these one changed tag prints ten thousand others, and a picture as base64.
@Suite struct DocumentDiffTests {
    @Test func `of an array only the elements that differ are shown`() {
        let tags = (0..<10_000).map { BSONValue.int32($0) }
        var changed = tags
        changed[7] = -1
        let lines = EditionLine.lines(
            base: ["tags": .array(BSONArray(tags)), "b": 1],
            local: ["tags": .array(BSONArray(changed + [.int32(1)])), "b": 1], remote: nil
        ).filter { $0.differs(hasRemote: false) }
        #expect(lines.map(\.path) == ["tags.7", "tags.10000"])
        #expect(lines.map(\.base) == [7, nil])
        #expect(lines.map(\.local) == [-1, 1])
    }

    @Test func `an array with many differences is one line, and so is one that is missing`() {
        let tags = (0..<100).map { BSONValue.int32($0) }
        let base: BSONDocument = ["tags": .array(BSONArray(tags))]
        let moved: BSONDocument = ["tags": .array(BSONArray([-1] + tags))]
        for local in [moved, [:], ["tags": 1]] {
            let lines = EditionLine.lines(base: base, local: local, remote: nil)
            #expect(lines.map(\.path) == ["tags"])
            #expect(lines.allSatisfy { $0.differs(hasRemote: false) })
        }
        #expect(
            EditionLine.lines(base: base, local: base, remote: .some(nil)).map(\.path) == ["tags"])
    }

    @Test func `documents in arrays are compared field by field`() {
        let lines = EditionLine.lines(
            base: ["a": [["b": 1, "c": 1]]], local: ["a": [["b": 1, "c": 2]]],
            remote: .some(["a": [["b": 1, "c": 1]]])
        ).filter { $0.differs(hasRemote: true) }
        #expect(lines.map(\.path) == ["a.0.c"])
    }

    @Test func `long values are named by type and size`() {
        let bytes = BSONBinary([UInt8](repeating: 7, count: 1 << 20))
        #expect("\(ShortValue(.binary(bytes)))" == "binary of subtype 0, 1048576 bytes")
        #expect("\(ShortValue([1, 2]))" == "[1,2]")
        let list = BSONValue.array(BSONArray((0..<1_000).map { BSONValue.int32($0) }))
        #expect("\(ShortValue(list))" == "array of 1000 values")
        #expect("\(ShortValue(.document(["a": .binary(bytes)])))" == "document of 1 field")
        #expect("\(ShortValue(.string(String(repeating: "x", count: 5_000))))".utf8.count < 400)
    }
}
