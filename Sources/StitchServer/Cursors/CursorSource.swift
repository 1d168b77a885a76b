internal import BSONStore

/// A source of a cursor's documents, read in batches.
protocol CursorSource: Sendable {
    /// Whether the cursor stays open when its collection is dropped or renamed.
    var survivesCollectionEnd: Bool { get }

    /// The size of what the source keeps in memory between batches, in bytes: documents, or a query
    /// (``CommandCall/heldQueryBytes``).
    var memoryBytes: Int { get }

    /// Whether the source keeps its documents in a temporary file.
    var isSpooled: Bool { get }

    /// Whether the deployment behind a gateway holds the cursor's documents.
    var isForwarded: Bool { get }

    /// Reports when there may be more documents; `nil` for the commits of the server's store.
    var news: CommitNotifier? { get }

    /// The documents whose changes may be news.
    var newsScope: CommitScope { get }

    /// Whether the source itself reports that other rules apply to its user now.
    var reportsRuleChanges: Bool { get }

    /// The time up to which a change stream's source has all changes; `nil` for other sources, and while
    /// the time is not known.
    var changesUpTo: BSONDatetime? { get }

    /// Skips changes that the client does not see, if that needs no wait; returns whether another
    /// change follows.
    mutating func skipUnseen() -> Bool

    /// Returns the next documents: fewer than the limit only at the end, or when no more exist yet.
    mutating func next(_ limits: BatchLimits, _ call: CommandCall) throws -> CursorBatch
}

extension CursorSource {
    var survivesCollectionEnd: Bool { false }
    var memoryBytes: Int { 0 }
    var isSpooled: Bool { false }
    var isForwarded: Bool { false }
    var news: CommitNotifier? { nil }
    var newsScope: CommitScope { .everything }
    var reportsRuleChanges: Bool { false }
    var changesUpTo: BSONDatetime? { nil }
    mutating func skipUnseen() -> Bool { true }
}

extension CommandCall {
    /// The memory that the parsed query of the command takes as long as its cursor is open, in bytes.
    ///
    /// It is the command itself, its parsed texts, and a number of objects for each of its values.
    var heldQueryBytes: Int {
        let count = body.withUnsafeBytes { Self.valueCount($0) }
        return body.byteCount * 2 + count * Self.parsedBytesOfValue
    }

    /// The bytes in memory for each value of a parsed query.
    private static let parsedBytesOfValue = 128

    /// Returns the number of values in a document, and in those within.
    private static func valueCount(_ document: UnsafeRawBufferPointer) -> Int {
        var cursor = BSONCursor(document)
        var count = 0
        while let element = cursor.next() {
            count += 1
            if [.document, .array].contains(element.value.type) {
                count += valueCount(element.value.bytes)
            }
        }
        return count
    }
}

/// The limits of one batch.
struct BatchLimits: Sendable {
    /// The size limit of a batch in bytes, so that it fits into a reply.
    static let bytesMax = 16 * 1024 * 1024

    /// The maximum number of documents.
    var documentsMax = Int.max

    /// Whether one more document fits into the batch.
    func hasRoom(count: Int, bytes: Int, for document: BSONDocument) -> Bool {
        count < documentsMax && (count == 0 || bytes + document.byteCount <= Self.bytesMax)
    }
}

/// One batch of documents.
struct CursorBatch: Sendable {
    var documents: [BSONDocument] = []
    /// Whether the cursor is exhausted for good.
    var isAtEnd = false
    /// The token from which a change stream can resume after this batch.
    var resumeToken: BSONDocument?
}

/// A source of documents that are all in memory.
struct ListSource: CursorSource {
    /// The remaining documents, in reverse order.
    private var documents: [BSONDocument]
    /// Whether the cursor ends with the last document, as for catalog lists; a query's cursor ends
    /// only with a batch that has room left.
    private let knowsEnd: Bool
    private(set) var memoryBytes: Int

    init(_ documents: [BSONDocument], knowsEnd: Bool = false) {
        self.documents = documents.reversed()
        self.knowsEnd = knowsEnd
        memoryBytes = documents.reduce(0) { $0 + Self.memoryBytes(of: $1) }
    }

    /// Returns the memory that a document in a list takes, in bytes.
    static func memoryBytes(of document: BSONDocument) -> Int { document.byteCount + 64 }

    mutating func next(_ limits: BatchLimits, _ call: CommandCall) -> CursorBatch {
        var batch = CursorBatch()
        var bytes = 0
        while let document = documents.last,
            limits.hasRoom(count: batch.documents.count, bytes: bytes, for: document)
        {
            batch.documents.append(document)
            bytes += document.byteCount + 16
            memoryBytes -= Self.memoryBytes(of: document)
            documents.removeLast()
        }
        batch.isAtEnd =
            documents.isEmpty && (knowsEnd || batch.documents.count < limits.documentsMax)
        return batch
    }
}
