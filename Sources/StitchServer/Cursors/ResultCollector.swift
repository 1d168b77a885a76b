internal import BSONStore

/// The documents of a result while they are found: in memory, or in a file if they are many.
struct ResultCollector {
    /// The size of the part that is written at once, in bytes.
    private static let writtenAtOnce = 512 * 1024

    private let spools: ResultSpools
    private let owner: CursorOwner
    private var documents: [BSONDocument] = []
    private var bytes = 0
    private var spool: Spool?
    private var unwritten: [UInt8] = []

    /// The number of documents.
    private(set) var count = 0

    /// Creates an empty result of a user.
    init(_ spools: ResultSpools, of owner: CursorOwner) {
        self.spools = spools
        self.owner = owner
    }

    /// Adds a document.
    ///
    /// - Throws: the errors of the file: 292, 14031, 39.
    mutating func append(_ document: BSONDocument) throws(StoreError) {
        count += 1
        guard spool == nil else { return try write(document) }
        documents.append(document.compacted())
        bytes += ListSource.memoryBytes(of: document)
        guard bytes > ResultSpools.memoryBytesMax else { return }
        spool = try spools.open(for: owner)
        for document in documents { try write(document) }
        documents = []
    }

    private mutating func write(_ document: BSONDocument) throws(StoreError) {
        document.withUnsafeBytes { unwritten.append(contentsOf: $0) }
        if unwritten.count >= Self.writtenAtOnce { try flush() }
    }

    private mutating func flush() throws(StoreError) {
        try spool?.append(unwritten)
        unwritten.removeAll(keepingCapacity: true)
    }

    /// Returns the source of a cursor over the documents, after the last one.
    ///
    /// - Parameter knowsEnd: whether the cursor ends with the last document.
    /// - Throws: the errors of the file.
    mutating func source(knowsEnd: Bool = false) throws(StoreError) -> ResultSource {
        guard let spool else { return .list(ListSource(documents, knowsEnd: knowsEnd)) }
        try flush()
        unwritten = []
        return .spool(SpoolSource(spool, knowsEnd: knowsEnd))
    }
}
