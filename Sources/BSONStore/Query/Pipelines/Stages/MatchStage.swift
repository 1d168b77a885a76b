/// Gives on the documents that pass a filter.
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

/// Gives on the first documents.
struct LimitStage: PipelineStage {
    let count: Int

    static func parse(
        _ value: BSONValue, _: PipelineParser
    ) throws(StoreError) -> [any PipelineStage] {
        let count = try value.wholeCount("$limit", code: 5_107_201, for: "$limit")
        guard count > 0 else { throw .location(15958, "the limit must be positive") }
        return [LimitStage(count: count)]
    }

    func sink(into next: any PipelineSink, _: PipelineRun) -> any PipelineSink {
        var given = 0
        return ExpandingSink(next) { [count] (document, next) throws(StoreError) in
            guard given < count else { return false }
            given += 1
            return try next.take(document) && given < count
        }
    }
}

/// Leaves out the first documents.
struct SkipStage: PipelineStage {
    let count: Int

    static func parse(
        _ value: BSONValue, _: PipelineParser
    ) throws(StoreError) -> [any PipelineStage] {
        [SkipStage(count: try value.wholeCount("$skip", code: 5_107_200, for: "$skip"))]
    }

    func sink(into next: any PipelineSink, _: PipelineRun) -> any PipelineSink {
        var seen = 0
        return MappingSink(next) { [count] document in
            guard seen < count else { return document }
            seen += 1
            return nil
        }
    }
}

/// Puts the documents in order, equal ones in the order in which they came.
struct SortStage: PipelineStage {
    let order: SortOrder
    /// The most documents that are wanted; 0 for all.
    var limit = 0

    static func parse(
        _ value: BSONValue, _ parser: PipelineParser
    ) throws(StoreError) -> [any PipelineStage] {
        guard case .document(let document) = value else {
            throw .location(15973, "the $sort key specification must be an object")
        }
        guard !document.isEmpty else {
            throw .location(15976, "$sort stage must have at least one sort key")
        }
        return [SortStage(order: try order(document, parser))]
    }

    /// Reads the keys of `$sort` and of what sorts like it.
    ///
    /// - Throws: 15974, 15975, 17312, 31138, 40218 and what is no path.
    static func order(
        _ document: BSONDocument, _ parser: PipelineParser
    ) throws(StoreError) -> SortOrder {
        guard document.count <= 32 else {
            throw StoreError(.badValue, "too many compound keys")
        }
        for (field, value) in document {
            if case .document(let document) = value {
                guard document.keys.first == "$meta" else {
                    throw .location(
                        17312, "$meta is the only expression supported by $sort right now")
                }
                guard document["$meta"] != "randVal" else {
                    throw .location(
                        40218, "query requires rand val metadata, but it is not available")
                }
                continue
            }
            guard BSONNumber(value) != nil else {
                throw .location(
                    15974,
                    "Illegal key in $sort specification: \(field): \(ShellText.text(of: value))")
            }
            let direction = value.truncatedNumber
            guard direction == 1 || direction == -1 else {
                throw .location(
                    15975, "$sort key ordering must be 1 (for ascending) or -1 (for descending)")
            }
            _ = try ExpressionPath(field)
        }
        return try SortOrder(document, collation: parser.collation)
    }

    func sink(into next: any PipelineSink, _ run: PipelineRun) -> any PipelineSink {
        SortingSink(next, order, limit, run)
    }
}

/// Sorts what comes, keeping only as many as are wanted.
final class SortingSink: PipelineSink {
    private let next: any PipelineSink
    private let run: PipelineRun
    private var sorter: DocumentSorter

    init(_ next: any PipelineSink, _ order: SortOrder, _ limit: Int, _ run: PipelineRun) {
        self.next = next
        self.run = run
        sorter = DocumentSorter(order: order, skip: 0, limit: limit)
    }

    func take(_ document: BSONDocument) throws(StoreError) -> Bool {
        try sorter.insert(document, metadata: run.metadata)
        return true
    }

    func finish() throws(StoreError) {
        for entry in sorter.sortedEntries() {
            run.metadata = entry.metadata
            guard try next.take(entry.document) else { break }
        }
        run.metadata = [:]
        try next.finish()
    }
}

/// Gives one document with the number of all.
struct CountStage: CountingStage {
    let field: String

    static func parse(
        _ value: BSONValue, _: PipelineParser
    ) throws(StoreError) -> [any PipelineStage] {
        guard case .string(let field) = value else {
            throw .location(40156, "the count field must be a non-empty string")
        }
        guard !field.isEmpty else {
            throw .location(40157, "the count field must be a non-empty string")
        }
        guard !field.hasPrefix("$") else {
            throw .location(40158, "the count field cannot be a $-prefixed path")
        }
        guard !field.utf8.contains(0) else {
            throw .location(40159, "the count field cannot contain a null byte")
        }
        guard !field.utf8.contains(UInt8(ascii: ".")) else {
            throw .location(40160, "the count field cannot contain '.'")
        }
        guard field != "_id" else {
            throw .location(15948, "a group's _id may only be specified once")
        }
        return [CountStage(field: field)]
    }

    func document(of count: Int, _: PipelineRun) -> BSONDocument? {
        count == 0 ? nil : [field: .count(count)]
    }

    func sink(into next: any PipelineSink, _ run: PipelineRun) -> any PipelineSink {
        CountingSink(next, self, run)
    }
}

/// Counts what comes and keeps nothing of it.
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

/// Gives on documents that are chosen by chance, in an order by chance.
struct SampleStage: PipelineStage {
    let size: Int

    static func parse(
        _ value: BSONValue, _: PipelineParser
    ) throws(StoreError) -> [any PipelineStage] {
        guard case .document(let document) = value else {
            throw .location(28745, "the $sample stage specification must be an object")
        }
        var size: Int?
        for (key, value) in document {
            guard key == "size" else {
                throw .location(28748, "unrecognized option to $sample: \(key)")
            }
            guard BSONNumber(value) != nil else {
                throw .location(28746, "size argument to $sample must be a number")
            }
            guard let number = value.truncatedNumber, number > 0 else {
                throw .location(28747, "size argument to $sample must be a positive integer")
            }
            size = Int(number)
        }
        guard let size else { throw .location(28749, "$sample stage must specify a size") }
        return [SampleStage(size: size)]
    }

    /// Keeps each document with the chance that it has by its number, so that all have the same.
    func sink(into next: any PipelineSink, _ run: PipelineRun) -> any PipelineSink {
        SamplingSink(next, size: size, run.memory("$sample"))
    }
}

/// Keeps a number of documents by chance.
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
        try filter.matches(document, frame(for: document))
    }
}
