/// Counts the bytes that a stage holds.
struct PipelineMemory {
    /// Stages hold at most so many bytes: MongoDB's 100 MiB.
    static let bytesMax = 100 * 1024 * 1024
    /// With `allowDiskUse` they may hold this; nothing is ever written to disk.
    static let bytesMaxWithDiskUse = 1024 * 1024 * 1024

    /// The stage's name.
    let stage: String
    /// How many bytes it may hold.
    let bytesMax: Int
    private(set) var bytes = 0

    init(_ stage: String, _ bytesMax: Int) {
        self.stage = stage
        self.bytesMax = bytesMax
    }

    /// Notes that a document is held.
    ///
    /// - Returns: what is to be held, which keeps no larger document alive.
    /// - Throws: 292 when they are too many.
    mutating func keep(_ document: BSONDocument) throws(StoreError) -> BSONDocument {
        try add(document.byteCount + 64)
        return document.compacted()
    }

    /// Notes that more bytes are held; a negative number gives some back.
    ///
    /// - Throws: 292 when they are too many.
    mutating func add(_ count: Int) throws(StoreError) {
        try WorkBudget.spend()
        bytes += count
        guard bytes > bytesMax else { return }
        throw StoreError(
            .noDiskUseAllowed,
            "Exceeded memory limit for \(stage), but didn't allow external sort. Pass "
                + "allowDiskUse:true to opt in.")
    }
}
