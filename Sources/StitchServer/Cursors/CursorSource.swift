internal import BSONStore

/// Gives the documents of a cursor, some at a time.
protocol CursorSource: Sendable {
    /// Whether the cursor stays open when its collection is dropped or renamed.
    var survivesCollectionEnd: Bool { get }

    /// The next documents; fewer than asked for only at the end, or for now where more may come.
    mutating func next(_ limits: BatchLimits, _ call: CommandCall) throws -> CursorBatch
}

extension CursorSource {
    var survivesCollectionEnd: Bool { false }
}

/// Bounds what is given out at once.
struct BatchLimits: Sendable {
    /// A batch has about so many bytes at most: what fits into an answer.
    static let bytesMax = 16 * 1024 * 1024

    /// How many documents at most.
    var documentsMax = Int.max

    /// Whether one more document fits behind others.
    func hasRoom(count: Int, bytes: Int, for document: BSONDocument) -> Bool {
        count < documentsMax && (count == 0 || bytes + document.byteCount <= Self.bytesMax)
    }
}

/// Holds documents that are given out at once.
struct CursorBatch: Sendable {
    var documents: [BSONDocument] = []
    /// Whether there are no more, ever.
    var isAtEnd = false
    /// From where a change stream can go on behind this batch.
    var resumeToken: BSONDocument?
}

/// Gives documents that are all known.
struct ListSource: CursorSource {
    /// The documents that are left, the next one last.
    private var documents: [BSONDocument]
    /// Whether the end is known once the last document is given, as for lists of the catalog; of a
    /// query it is known when a batch could have had more.
    private let knowsEnd: Bool

    init(_ documents: [BSONDocument], knowsEnd: Bool = false) {
        self.documents = documents.reversed()
        self.knowsEnd = knowsEnd
    }

    mutating func next(_ limits: BatchLimits, _ call: CommandCall) -> CursorBatch {
        var batch = CursorBatch()
        var bytes = 0
        while let document = documents.last,
            limits.hasRoom(count: batch.documents.count, bytes: bytes, for: document)
        {
            batch.documents.append(document)
            bytes += document.byteCount + 16
            documents.removeLast()
        }
        batch.isAtEnd =
            documents.isEmpty && (knowsEnd || batch.documents.count < limits.documentsMax)
        return batch
    }
}
