/// The memory that a stage uses, in bytes.
struct PipelineMemory {
    /// The default limit: MongoDB's 100 MiB.
    static let bytesMax = 100 * 1024 * 1024
    /// The limit with `allowDiskUse`; nothing is ever written to disk.
    static let bytesMaxWithDiskUse = 1024 * 1024 * 1024

    /// The stage's name.
    let stage: String
    /// The maximum number of bytes.
    let bytesMax: Int
    private(set) var bytes = 0
    private let holding: MemoryHolding?

    init(_ stage: String, _ bytesMax: Int) {
        self.stage = stage
        self.bytesMax = bytesMax
        holding = .begin(stage)
    }

    /// Counts a document that the stage keeps.
    ///
    /// - Returns: the document to keep, compacted so that it keeps no larger one alive.
    /// - Throws: 292 if the limit is exceeded.
    mutating func keep(_ document: BSONDocument) throws(StoreError) -> BSONDocument {
        try add(document.byteCount + 64)
        return document.compacted()
    }

    /// Counts more bytes; a negative number releases some.
    ///
    /// - Throws: 292 if the limit is exceeded.
    mutating func add(_ count: Int) throws(StoreError) {
        try WorkBudget.spend()
        bytes += count
        guard bytes > bytesMax else {
            try holding?.add(count)
            return
        }
        throw StoreError(
            .queryExceededMemoryLimitNoDiskUseAllowed,
            "Exceeded memory limit for \(stage), but didn't allow external sort. Pass "
                + "allowDiskUse:true to opt in.")
    }
}
