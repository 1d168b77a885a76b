/// Copies documents one behind the other, so that many small ones cost few allocations.
///
/// The documents of one run share its bytes, as a nested document shares its parent's: whoever
/// keeps one of them keeps the run, until the document changes and takes bytes of its own.
struct BSONDocumentBatch {
    /// A run has at most so many bytes.
    static let runBytesMax = 16_384
    /// A larger document has bytes of its own.
    static let sharedBytesMax = 2_048

    private var documents: [BSONDocument] = []
    private var run: [UInt8] = []
    private var runCount = 0

    /// Copies a valid document.
    @inline(__always)
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if bytes.count > Self.runBytesMax - run.count || bytes.count > Self.sharedBytesMax {
            closeRun()
            guard bytes.count <= Self.sharedBytesMax else {
                documents.append(BSONDocument(unchecked: Array(bytes)))
                return
            }
        }
        // The second document says that there may be many.
        if runCount == (documents.isEmpty ? 1 : 0) { run.reserveCapacity(Self.runBytesMax) }
        run.append(contentsOf: bytes)
        runCount += 1
    }

    /// Ends the batch and gives its documents in order.
    mutating func finish() -> [BSONDocument] {
        closeRun()
        return documents
    }

    private mutating func closeRun() {
        guard runCount > 0 else { return }
        if documents.isEmpty { documents.reserveCapacity(runCount) }
        // A copy has no more room than it needs.
        let shared = run.capacity > 2 * run.count ? run.withUnsafeBytes { Array($0) } : run
        shared.withUnsafeBytes { bytes in
            var start = 0
            while start < bytes.count {
                let length = Int(
                    Int32(littleEndian: bytes.loadUnaligned(fromByteOffset: start, as: Int32.self)))
                documents.append(BSONDocument(sharing: shared, start: start, length: length))
                start += length
            }
        }
        run = []
        runCount = 0
    }
}
