/// A stage that passes on the documents that a filter matches.
struct MatchStage: PipelineStage {
    let filter: Filter

    static func parse(
        _ value: BSONValue, _ parser: PipelineParser
    ) throws(StoreError) -> [any PipelineStage] {
        guard case .document(let document) = value else {
            throw .location(15959, "the match filter must be an expression in an object")
        }
        return [MatchStage(filter: try parser.filter(document))]
    }

    func sink(into next: any PipelineSink, _ run: PipelineRun) -> any PipelineSink {
        guard !filter.isEverything else { return next }
        return MappingSink(next) { (document) throws(StoreError) in
            try run.matches(filter, document) ? document : nil
        }
    }
}

/// A sink that sorts its input and keeps only the required number.
final class SortingSink: PipelineSink {
    private let next: any PipelineSink
    private let run: PipelineRun
    private let order: SortOrder
    private var sorter: DocumentSorter

    init(_ next: any PipelineSink, _ order: SortOrder, _ limit: Int, _ run: PipelineRun) {
        self.next = next
        self.run = run
        self.order = order
        sorter = DocumentSorter(order: order, skip: 0, limit: limit, bytesMax: run.bytesMax)
    }

    func take(_ document: BSONDocument) throws(StoreError) -> Bool {
        try sorter.insert(document, metadata: run.metadata)
        return true
    }

    func finish() throws(StoreError) {
        for entry in sorter.sortedEntries() {
            run.metadata = entry.metadata
            run.noteSortKey(of: entry.document, order)
            guard try next.take(entry.document) else { break }
        }
        run.metadata = [:]
        try next.finish()
    }
}

/// A sink that counts its input and keeps nothing.
final class CountingSink: PipelineSink {
    private let next: any PipelineSink
    private let stage: any CountingStage
    private let run: PipelineRun
    private var count = 0

    init(_ next: any PipelineSink, _ stage: any CountingStage, _ run: PipelineRun) {
        self.next = next
        self.stage = stage
        self.run = run
    }

    func take(_: BSONDocument) -> Bool {
        count += 1
        return true
    }

    func finish() throws(StoreError) {
        if let document = try stage.document(of: count, run) { _ = try next.take(document) }
        try next.finish()
    }
}

/// A sink that keeps a random sample of a fixed size.
final class SamplingSink: PipelineSink {
    private let next: any PipelineSink
    private let size: Int
    private var memory: PipelineMemory
    private var kept: [BSONDocument] = []
    private var seen = 0

    init(_ next: any PipelineSink, size: Int, _ memory: PipelineMemory) {
        self.next = next
        self.size = size
        self.memory = memory
    }

    func take(_ document: BSONDocument) throws(StoreError) -> Bool {
        seen += 1
        if kept.count < size {
            kept.append(try memory.keep(document))
        } else {
            let place = Int.random(in: 0..<seen)
            if place < size {
                try memory.add(document.byteCount - kept[place].byteCount)
                kept[place] = document.compacted()
            }
        }
        return true
    }

    func finish() throws(StoreError) {
        for document in kept.shuffled() {
            guard try next.take(document) else { break }
        }
        try next.finish()
    }
}

extension PipelineRun {
    /// Whether a document passes a filter, whose expressions see the run's variables.
    func matches(_ filter: Filter, _ document: BSONDocument) throws(StoreError) -> Bool {
        try filter.evaluate(document, frame(for: document))
    }
}
