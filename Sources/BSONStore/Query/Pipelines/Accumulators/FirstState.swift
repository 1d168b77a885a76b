/// Keeps the value of the first document.
final class FirstState: AccumulatorState {
    private var first: BSONValue??

    override func add(_ value: BSONValue?, _: BSONDocument) -> Int {
        guard first == nil else { return 0 }
        first = .some(value?.compacted())
        return value.map { BSONWriter.count($0) } ?? 0
    }

    override func result() -> BSONValue? { first ?? nil }
}

/// Keeps the value of the last document.
final class LastState: AccumulatorState {
    private var last: BSONValue?

    override func add(_ value: BSONValue?, _: BSONDocument) -> Int {
        let before = last.map { BSONWriter.count($0) } ?? 0
        last = value?.compacted()
        return (value.map { BSONWriter.count($0) } ?? 0) - before
    }

    override func result() -> BSONValue? { last }
}

/// Keeps the least or the greatest value; null and missing ones do not count.
final class MinMaxState: AccumulatorState {
    private let isMax: Bool
    private let run: PipelineRun
    private var best: BSONValue?

    init(isMax: Bool, _ run: PipelineRun) {
        self.isMax = isMax
        self.run = run
    }

    override func add(_ value: BSONValue?, _: BSONDocument) -> Int {
        guard let value, !value.isNullish else { return 0 }
        guard let known = best else {
            best = value.compacted()
            return BSONWriter.count(value)
        }
        guard run.compare(value, known) == (isMax ? .greater : .less) else { return 0 }
        best = value.compacted()
        return BSONWriter.count(value) - BSONWriter.count(known)
    }

    override func result() -> BSONValue? { best ?? .null }
}

/// Keeps all values in the order in which they came; missing ones do not count.
final class PushState: AccumulatorState {
    private var values: [BSONValue] = []
    private var memory: AccumulatorMemory

    init(_ run: PipelineRun) { memory = AccumulatorMemory("$push", run.bytesMax) }

    override func add(_ value: BSONValue?, _: BSONDocument) throws(StoreError) -> Int {
        guard let value else { return 0 }
        values.append(value.compacted())
        return try memory.add(value)
    }

    override func result() throws(StoreError) -> BSONValue? {
        try ExpressionLimits.array(values)
    }
}

/// Keeps every value once, in the order in which they came, which MongoDB leaves open.
final class AddToSetState: AccumulatorState {
    private var values: [BSONValue] = []
    private var seen: Set<[UInt8]> = []
    private let run: PipelineRun
    private var memory: AccumulatorMemory

    init(_ run: PipelineRun) {
        self.run = run
        memory = AccumulatorMemory("$addToSet", run.bytesMax)
    }

    override func add(_ value: BSONValue?, _: BSONDocument) throws(StoreError) -> Int {
        guard let value, seen.insert(run.key(of: value)).inserted else { return 0 }
        values.append(value.compacted())
        return try memory.add(value)
    }

    override func result() throws(StoreError) -> BSONValue? {
        try ExpressionLimits.array(values)
    }
}

/// Counts the bytes that one accumulator holds.
struct AccumulatorMemory {
    private let name: String
    private let bytesMax: Int
    private var bytes = 0

    init(_ name: String, _ bytesMax: Int) {
        self.name = name
        self.bytesMax = bytesMax
    }

    /// Notes that a value is held, and returns its bytes.
    ///
    /// - Throws: `exceededMemoryLimit` (146) when they are too many.
    mutating func add(_ value: BSONValue) throws(StoreError) -> Int {
        let count = BSONWriter.count(value) + 32
        bytes += count
        guard bytes <= bytesMax else {
            throw StoreError(
                .exceededMemoryLimit,
                "\(name) used too much memory and cannot spill to disk. Memory limit: "
                    + "\(bytesMax) bytes")
        }
        return count
    }
}

/// Merges documents; the fields of later ones win.
final class MergeObjectsState: AccumulatorState {
    private var merged = BSONDocument()

    override func add(_ value: BSONValue?, _: BSONDocument) throws(StoreError) -> Int {
        guard let value, !value.isNullish else { return 0 }
        guard case .document(let document) = value else {
            throw .location(
                40400,
                "$mergeObjects requires object inputs, but input \(ExpressionText.text(of: value)) "
                    + "is of type \(value.type.alias)")
        }
        let before = merged.byteCount
        for (key, value) in document { merged.set(key, to: value) }
        return merged.byteCount - before
    }

    override func result() -> BSONValue? { .document(merged) }
}
