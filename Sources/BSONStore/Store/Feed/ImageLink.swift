/// Says where the document is to be found that a change left: the feed keeps no second copy of it.
///
/// The bytes, in the place of the document: a zero, where a document has its length; the row that the
/// document is stored in; the position of the change of the same row before this one, 0 when there is
/// none; as int32 and twice int64. Behind them may be the document, whole.
struct ImageLink: Sendable, Equatable {
    /// The document's row in its collection; 0 when the document was damaged, and is lost.
    let row: Int64
    /// The position of the change of the row before this one, which may no longer be kept.
    let previous: Int64

    private static let byteCount = 20

    /// Reads what stands for a document; `nil` for a document itself.
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

    /// Says that nobody has the document any more.
    var asLost: ImageLink { ImageLink(row: 0, previous: previous) }

    /// Whether nobody has the document any more.
    var isLost: Bool { row == 0 }

    /// What is stored behind a link; empty when the document is elsewhere.
    static func image(_ stored: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: stored.dropFirst(byteCount))
    }

    /// Calls a body with the link as it is to be stored, a document behind it where one is given.
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

    /// Whether a change at a position keeps the document all the same: about every sixteenth does, so
    /// that the way to the document of an old change is short however often it changed since.
    static func keepsImage(at position: Int64) -> Bool {
        // Spread, so that no pattern of writes passes a document over for long.
        (UInt64(bitPattern: position) &* 0x9E37_79B9_7F4A_7C15) >> 60 == 0
    }
}
