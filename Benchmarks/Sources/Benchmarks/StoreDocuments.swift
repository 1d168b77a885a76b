import BSONStore
import BenchmarkBaseline
import Foundation

/// Holds small documents of one size, for both sides, with the order in which they are looked up.
final class StoreDocuments {
    let documents: [BSONDocument]
    let ids: [BSONValue]
    let order: [UInt32]
    /// The same for the baseline; lives as long as the process.
    let baseline: baseline_documents

    init(count: Int) {
        var shuffle = Generator()
        order = (0..<UInt32(count)).shuffled(using: &shuffle)
        let numbers = (0..<Int32(count)).shuffled(using: &shuffle)
        documents = (0..<count).map { Self.document($0, number: numbers[$0]) }
        ids = documents.map { $0["_id"] ?? .null }
        let size = documents[0].byteCount
        let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: count * size)
        for (index, document) in documents.enumerated() {
            precondition(document.byteCount == size, "All documents have one size")
            UnsafeMutableRawBufferPointer(start: bytes + index * size, count: size)
                .copyBytes(from: document.bytes)
        }
        let places = UnsafeMutablePointer<UInt32>.allocate(capacity: count)
        places.initialize(from: order, count: count)
        baseline = baseline_documents(
            bytes: bytes, count: count, size: size,
            id_offset: Self.offset("_id", documents[0]),
            group_offset: Self.offset("group", documents[0]),
            number_offset: Self.offset("n", documents[0]), order: places)
    }

    private static func document(_ index: Int, number: Int32) -> BSONDocument {
        let id: [UInt8] = [
            0x65, 0xA1, 0xB2, UInt8(truncatingIfNeeded: index / 12_800),
            UInt8(truncatingIfNeeded: index / 50), 5, 6, 7, 1,
            UInt8(truncatingIfNeeded: index >> 16), UInt8(truncatingIfNeeded: index >> 8),
            UInt8(truncatingIfNeeded: index),
        ]
        guard let id = BSONObjectID(bytes: id) else { preconditionFailure("12 bytes are an id") }
        return [
            "_id": .objectID(id), "name": "Some Person Xy",
            "n": .int32(number), "score": 1.25, "group": .int32(Int32(index % 1_000)),
            "active": true, "created": .datetime(BSONDatetime(milliseconds: 1_700_000_000_000)),
            "payload": .string(String(repeating: "abcdefghijklm", count: 9)),
        ]
    }

    private static func offset(_ key: String, _ document: BSONDocument) -> Int {
        document.withUnsafeBytes { bytes in
            var cursor = BSONCursor(bytes)
            while let base = bytes.baseAddress, let element = cursor.next() {
                if key.utf8.elementsEqual(element.key) { return element.value.start - base }
            }
            preconditionFailure("No field \(key)")
        }
    }

    /// The same order each time.
    private struct Generator: RandomNumberGenerator {
        private var state: UInt64 = 0x9E37_79B9_7F4A_7C15

        mutating func next() -> UInt64 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return state
        }
    }
}
