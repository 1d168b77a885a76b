import Testing

@testable import BSONCore
@testable import BSONStore

/// The feed keeps a document before a change as what differs from the one after it.
struct ImagePatchTests {
    private static let text = String(repeating: "long enough to be worth it ", count: 8)

    private static func stored(_ document: BSONDocument, beside other: BSONDocument?) -> [UInt8] {
        ImagePatch.lend(document, beside: other) { Array($0) }
    }

    private static func read(_ bytes: [UInt8], beside other: BSONDocument?) throws -> BSONDocument {
        try bytes.withUnsafeBytes { try ImagePatch.document($0, beside: other) }
    }

    @Test("what is stored beside any other document is read back as it was")
    func everyPair() throws {
        let documents: [BSONDocument] = [
            [:], ["_id": 1], ["_id": 1, "a": .string(Self.text)],
            ["_id": 1, "a": .string(Self.text), "b": 2],
            ["_id": 1, "a": .string(Self.text), "b": 3],
            ["_id": 1, "c": 3, "a": .string(Self.text)],
            ["_id": 1, "a": .string(Self.text + Self.text)],
            ["_id": 2, "a": .string(Self.text), "b": ["x": .string(Self.text)]],
        ]
        for document in documents {
            for other in documents {
                let bytes = Self.stored(document, beside: other)
                #expect(try Self.read(bytes, beside: other) == document)
                #expect(bytes.count <= document.byteCount)
            }
            #expect(Self.stored(document, beside: nil) == document.bytes)
        }
        #expect(Self.stored(documents[3], beside: documents[4]).count < 20)
    }

    @Test("bytes that are neither a document nor a patch are an error")
    func damaged() throws {
        let document: BSONDocument = ["_id": 1, "a": .string(Self.text)]
        let other: BSONDocument = ["_id": 1, "a": .string(Self.text), "b": 2]
        let patch = Self.stored(document, beside: other)
        #expect(patch.count < 20)
        #expect(throws: BSONError.self) { try Self.read(patch, beside: nil) }
        #expect(throws: BSONError.self) { try Self.read(patch, beside: ["_id": 1]) }
        for index in patch.indices {
            var bytes = patch
            bytes[index] = 0xFF
            // Another document may come of it, but never one that is not valid, and no trap.
            do {
                let read = try Self.read(bytes, beside: other)
                #expect(try BSONDocument(validating: read.bytes) == read)
            } catch is BSONError {}
            #expect(throws: BSONError.self) {
                try Self.read(Array(patch[..<index]), beside: other)
            }
        }
    }
}
