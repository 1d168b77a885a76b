internal import BSONStore

/// A source of documents that are all in a file.
struct SpoolSource: CursorSource {
    /// The size of the part that is read at once, in bytes.
    private static let readAtOnce = 512 * 1024

    private let spool: Spool
    private let knowsEnd: Bool
    /// The place of the next document in the file.
    private var place = 0

    init(_ spool: Spool, knowsEnd: Bool) {
        self.spool = spool
        self.knowsEnd = knowsEnd
    }

    var isSpooled: Bool { true }

    mutating func next(_ limits: BatchLimits, _ call: CommandCall) throws -> CursorBatch {
        var batch = CursorBatch()
        var bytes = 0
        var isFull = false
        while !isFull, place < spool.byteCount, batch.documents.count < limits.documentsMax {
            for document in try documents(at: place) {
                guard
                    limits.hasRoom(count: batch.documents.count, bytes: bytes, for: document)
                else {
                    isFull = true
                    break
                }
                batch.documents.append(document)
                bytes += document.byteCount + 16
                place += document.byteCount
            }
        }
        batch.isAtEnd =
            place == spool.byteCount && (knowsEnd || batch.documents.count < limits.documentsMax)
        return batch
    }

    /// Reads some documents, at least one.
    private func documents(at place: Int) throws(StoreError) -> [BSONDocument] {
        var bytes = try spool.read(at: place, count: Self.readAtOnce)
        if let length = Self.length(bytes[...]), length > bytes.count {
            bytes = try spool.read(at: place, count: length)
        }
        var documents: [BSONDocument] = []
        var rest = bytes[...]
        while let length = Self.length(rest), length <= rest.count {
            documents.append(BSONDocument(unchecked: Array(rest.prefix(length))))
            rest = rest.dropFirst(length)
        }
        guard !documents.isEmpty else {
            throw StoreError(.internalError, "the file of a result ends within a document")
        }
        return documents
    }

    /// The length with which a document begins; `nil` without enough bytes for one.
    private static func length(_ bytes: ArraySlice<UInt8>) -> Int? {
        guard bytes.count >= 5 else { return nil }
        let length = bytes.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        return length >= 5 ? length : nil
    }
}
