/// The location of the document after a change: the feed keeps no second copy of it.
///
/// The link is stored in place of the document: an int32 zero, where a document has its length; the
/// row of the document as int64; the position of the same row's previous change as int64, 0 without
/// one. The whole document may follow.
struct ImageLink: Sendable, Equatable {
    /// The document's row in its collection; 0 when the document was damaged and is lost.
    let row: Int64
    /// The position of the row's previous change, which the feed may no longer keep.
    let previous: Int64

    private static let byteCount = 20

    /// Parses a link; `nil` for a document.
    init?(_ stored: UnsafeRawBufferPointer) {
        guard stored.count >= Self.byteCount,
            stored.loadUnaligned(fromByteOffset: 0, as: Int32.self) == 0
        else { return nil }
        row = Int64(littleEndian: stored.loadUnaligned(fromByteOffset: 4, as: Int64.self))
        previous = Int64(littleEndian: stored.loadUnaligned(fromByteOffset: 12, as: Int64.self))
    }

    init(row: Int64, previous: Int64) {
        self.row = row
        self.previous = previous
    }

    /// The same link, marked as having no document any more.
    var asLost: ImageLink { ImageLink(row: 0, previous: previous) }

    /// Whether the document exists nowhere any more.
    var isLost: Bool { row == 0 }

    /// Returns the document stored after a link; empty when the document is elsewhere.
    static func image(_ stored: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: stored.dropFirst(byteCount))
    }

    /// Calls a body with the stored form of the link, followed by a document if one is given.
    func lend<R, E: Error>(
        with image: UnsafeRawBufferPointer? = nil,
        _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        let count = Self.byteCount + (image?.count ?? 0)
        return try withUnsafeTemporaryAllocation(byteCount: count, alignment: 8) {
            (bytes) throws(E) -> R in
            bytes.storeBytes(of: 0, as: Int32.self)
            bytes.storeBytes(of: row.littleEndian, toByteOffset: 4, as: Int64.self)
            bytes.storeBytes(of: previous.littleEndian, toByteOffset: 12, as: Int64.self)
            if let image {
                UnsafeMutableRawBufferPointer(rebasing: bytes[Self.byteCount...])
                    .copyMemory(from: image)
            }
            return try body(UnsafeRawBufferPointer(bytes))
        }
    }

    /// Whether the change at a position keeps its document anyway: about one in sixteen does, which
    /// bounds the work to recover an old document.
    static func keepsImage(at position: Int64) -> Bool {
        // Hashed, so that no regular pattern of writes avoids the copies for long.
        (UInt64(bitPattern: position) &* 0x9E37_79B9_7F4A_7C15) >> 60 == 0
    }
}
