/// Takes the documents that a stage gives, one after the other.
protocol PipelineSink: AnyObject {
    /// Takes one more document.
    ///
    /// - Returns: false when no more are wanted; whoever gives them then goes on to ``finish()``.
    func take(_ document: BSONDocument) throws(StoreError) -> Bool

    /// Is told, once, that no more documents come.
    func finish() throws(StoreError)
}

/// Gives on what a function makes of each document.
final class MappingSink: PipelineSink {
    typealias Map = (BSONDocument) throws(StoreError) -> BSONDocument?

    private let next: any PipelineSink
    private let map: Map

    init(_ next: any PipelineSink, _ map: @escaping Map) {
        self.next = next
        self.map = map
    }

    func take(_ document: BSONDocument) throws(StoreError) -> Bool {
        try WorkBudget.spend()
        guard let mapped = try map(document) else { return true }
        return try next.take(mapped)
    }

    func finish() throws(StoreError) { try next.finish() }
}

/// Gives on any number of documents for each one.
final class ExpandingSink: PipelineSink {
    typealias Expand = (BSONDocument, any PipelineSink) throws(StoreError) -> Bool

    private let next: any PipelineSink
    private let expand: Expand

    init(_ next: any PipelineSink, _ expand: @escaping Expand) {
        self.next = next
        self.expand = expand
    }

    func take(_ document: BSONDocument) throws(StoreError) -> Bool {
        try WorkBudget.spend()
        return try expand(document, next)
    }

    func finish() throws(StoreError) { try next.finish() }
}

/// Keeps all documents until the last one came, then gives on what a function makes of them.
final class BlockingSink: PipelineSink {
    typealias Flush = ([BSONDocument], any PipelineSink) throws(StoreError) -> Void

    private let next: any PipelineSink
    private var memory: PipelineMemory
    private let flush: Flush
    private var documents: [BSONDocument] = []

    init(_ next: any PipelineSink, _ memory: PipelineMemory, _ flush: @escaping Flush) {
        self.next = next
        self.memory = memory
        self.flush = flush
    }

    func take(_ document: BSONDocument) throws(StoreError) -> Bool {
        try WorkBudget.spend()
        documents.append(try memory.keep(document))
        return true
    }

    func finish() throws(StoreError) {
        try flush(documents, next)
        documents = []
        try next.finish()
    }
}

/// Gives documents to a body.
final class ClosureSink: PipelineSink {
    typealias Body = (BSONDocument) throws(StoreError) -> Bool

    private let body: Body

    init(_ body: @escaping Body) { self.body = body }

    func take(_ document: BSONDocument) throws(StoreError) -> Bool {
        try WorkBudget.spend()
        return try body(document)
    }

    func finish() {}
}

/// Gives on the documents of another pipeline, whose end is not the end of all.
final class ForwardingSink: PipelineSink {
    private let next: any PipelineSink
    private(set) var wantsMore = true

    init(_ next: any PipelineSink) { self.next = next }

    func take(_ document: BSONDocument) throws(StoreError) -> Bool {
        try WorkBudget.spend()
        guard wantsMore else { return false }
        wantsMore = try next.take(document)
        return wantsMore
    }

    func finish() {}
}

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

extension StoreError.Code {
    /// A stage holds more memory than it may; MongoDB's QueryExceededMemoryLimitNoDiskUseAllowed.
    static let noDiskUseAllowed = Self(rawValue: 292)
}
