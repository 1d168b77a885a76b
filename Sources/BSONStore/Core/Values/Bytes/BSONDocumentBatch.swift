/// Documents that are copied one behind the other, so that many small ones cost few allocations.
///
/// The documents of one run share its bytes, as a nested document shares its parent's: keeping one
/// of them keeps the run alive, until the document changes and copies its own bytes.
package struct BSONDocumentBatch {
    /// The maximum number of bytes in a run.
    static let runBytesMax = 16_384
    /// The size above which a document has its own bytes.
    static let sharedBytesMax = 2_048

    private var documents: [BSONDocument] = []
    /// The room for a run; `nil` before the second document, which suggests that there may be many.
    private var room: Room?
    /// The free part of the room.
    private var free = UnsafeMutableRawBufferPointer(start: nil, count: 0)

    /// Creates an empty batch.
    package init() {}

    /// Copies a valid document.
    @inline(__always)
    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count <= free.count, bytes.count <= Self.sharedBytesMax else {
            return begin(bytes)
        }
        free.copyMemory(from: bytes)
        free = UnsafeMutableRawBufferPointer(rebasing: free[bytes.count...])
    }

    /// Copies a document for which there is no room yet, or that needs its own bytes.
    private mutating func begin(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count <= Self.sharedBytesMax, !documents.isEmpty else {
            closeRun()
            documents.append(BSONDocument(unchecked: Array(bytes)))
            return
        }
        closeRun()
        let room = room ?? Room()
        self.room = room
        free = room.bytes
        append(bytes)
    }

    /// Ends the batch and returns its documents in order.
    package mutating func finish() -> [BSONDocument] {
        closeRun()
        return documents
    }

    private mutating func closeRun() {
        guard let room else { return }
        let used = room.bytes.count - free.count
        let run = Array(UnsafeRawBufferPointer(rebasing: room.bytes[..<used]))
        if documents.count == 1, let first = documents.first {
            // The expected count if all have the same size.
            documents.reserveCapacity(2 + used / first.byteCount)
        }
        run.withUnsafeBytes { bytes in
            var start = 0
            while start < bytes.count {
                let length = Int(
                    Int32(littleEndian: bytes.loadUnaligned(fromByteOffset: start, as: Int32.self)))
                documents.append(BSONDocument(sharing: run, start: start, length: length))
                start += length
            }
        }
        free = room.bytes
    }

    /// The memory for one run.
    private final class Room {
        let bytes = UnsafeMutableRawBufferPointer.allocate(
            byteCount: BSONDocumentBatch.runBytesMax, alignment: 16)

        deinit { bytes.deallocate() }
    }
}
