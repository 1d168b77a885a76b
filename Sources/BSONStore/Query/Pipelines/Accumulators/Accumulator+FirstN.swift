/// What the accumulators that keep several values are told at the start of a group.
struct AccumulatorLimit {
    /// How many values are kept.
    let count: Int
    let run: PipelineRun
    var memory: AccumulatorMemory

    init(_ name: String, _ value: BSONValue?, _ run: PipelineRun) throws(StoreError) {
        guard let value, BSONNumber(value) != nil else {
            throw .location(
                5_787_902,
                "Value for 'n' must be of integral type, but found "
                    + ExpressionText.text(of: value))
        }
        guard let count = value.wholeNumber else {
            throw .location(
                5_787_903,
                "Value for 'n' must be of integral type, but found "
                    + ExpressionText.text(of: value))
        }
        guard count > 0 else {
            throw .location(5_787_908, "'n' must be greater than 0, found \(count)")
        }
        self.count = Int(count)
        self.run = run
        memory = AccumulatorMemory(name, run.bytesMax)
    }
}

extension Accumulator {
    /// Reads `{input: <expression>, n: <expression>}`.
    static func several(
        _ name: String, _ value: BSONValue, _ parser: PipelineParser, isOrdered: Bool = false,
        _ make: @escaping @Sendable (AccumulatorLimit) -> AccumulatorState
    ) throws(StoreError) -> Accumulator {
        guard case .document(let document) = value else {
            throw .location(
                isOrdered ? 5_787_900 : 5_787_801,
                "specification must be an object; found \(name): \(ShellText.text(of: value))")
        }
        var count: Expression?
        var input: Expression?
        for (key, value) in document {
            switch key {
            case "input": input = try Expression(value, in: parser.scope)
            case "n": count = try Expression(value, in: parser.scope)
            default: throw .location(5_787_901, "Unknown argument for 'n' operator: \(key)")
            }
        }
        guard let count else { throw .location(5_787_906, "Missing value for 'n'") }
        guard let input else { throw .location(5_787_907, "Missing value for 'input'") }
        return Accumulator(name, input, initial: count) { (value, run) throws(StoreError) in
            make(try AccumulatorLimit(name, value, run))
        }
    }

    /// Reads `{output: <expression>, sortBy: <order>, n: <expression>}`.
    static func top(
        _ name: String, _ value: BSONValue, _ parser: PipelineParser, isTop: Bool,
        isSingle: Bool
    ) throws(StoreError) -> Accumulator {
        guard case .document(let document) = value else {
            throw .location(
                5_788_001,
                "specification must be an object; found \(name): \(ShellText.text(of: value))")
        }
        var count: Expression?
        var output: Expression?
        var order: SortOrder?
        for (key, value) in document {
            switch (key, value) {
            case ("n", _) where !isSingle: count = try Expression(value, in: parser.scope)
            case ("output", _): output = try Expression(value, in: parser.scope)
            case ("sortBy", _): order = try SortStage.order(value.fields(of: key), parser)
            default: throw .location(5_788_002, "Unknown argument to \(name) '\(key)'")
            }
        }
        if isSingle { count = try Expression(.int32(1), in: parser.scope) }
        guard let count else { throw .location(5_788_003, "Missing value for 'n'") }
        guard let output else { throw .location(5_788_004, "Missing value for 'output'") }
        guard let order else { throw .location(5_788_005, "Missing value for 'sortBy'") }
        return Accumulator(name, output, initial: count) { (value, run) throws(StoreError) in
            let capacity = try AccumulatorLimit(name, value, run)
            return TopState(capacity, order, isTop: isTop, isSingle: isSingle)
        }
    }
}

/// Keeps the values of the first documents; missing ones become null.
final class FirstNState: AccumulatorState {
    private var capacity: AccumulatorLimit
    private var values: [BSONValue] = []

    init(_ capacity: AccumulatorLimit) { self.capacity = capacity }

    override func add(_ value: BSONValue?, _: BSONDocument) throws(StoreError) -> Int {
        guard values.count < capacity.count else { return 0 }
        values.append(value?.compacted() ?? .null)
        return try capacity.memory.add(value ?? .null)
    }

    override func result() throws(StoreError) -> BSONValue? {
        try ExpressionLimits.array(values)
    }
}

/// Keeps the values of the last documents; missing ones become null.
final class LastNState: AccumulatorState {
    private var capacity: AccumulatorLimit
    private var values: [BSONValue] = []
    /// The place of the oldest value once there are as many as are kept.
    private var oldest = 0

    init(_ capacity: AccumulatorLimit) { self.capacity = capacity }

    override func add(_ value: BSONValue?, _: BSONDocument) throws(StoreError) -> Int {
        let value = value ?? .null
        guard values.count == capacity.count else {
            values.append(value.compacted())
            return try capacity.memory.add(value)
        }
        let growth = BSONWriter.count(value) - BSONWriter.count(values[oldest])
        values[oldest] = value.compacted()
        oldest = (oldest + 1) % capacity.count
        return growth
    }

    override func result() throws(StoreError) -> BSONValue? {
        try ExpressionLimits.array(Array(values[oldest...] + values[..<oldest]))
    }
}

/// Keeps the least or the greatest values in order; null and missing ones do not count.
final class MinMaxNState: AccumulatorState {
    private var capacity: AccumulatorLimit
    private let isMax: Bool
    private var values: [BSONValue] = []

    init(_ capacity: AccumulatorLimit, isMax: Bool) {
        self.capacity = capacity
        self.isMax = isMax
    }

    override func add(_ value: BSONValue?, _: BSONDocument) throws(StoreError) -> Int {
        guard let value, !value.isNullish else { return 0 }
        let wanted: BSONOrder = isMax ? .greater : .less
        let place = values.insertionPlace { capacity.run.compare(value, $0) == wanted }
        guard place < capacity.count else { return 0 }
        values.insert(value.compacted(), at: place)
        if values.count > capacity.count { values.removeLast() }
        return try capacity.memory.add(value)
    }

    override func result() throws(StoreError) -> BSONValue? {
        try ExpressionLimits.array(values)
    }
}

/// Keeps the outputs of the documents that stand first or last in an order.
final class TopState: AccumulatorState {
    private var capacity: AccumulatorLimit
    private let order: SortOrder
    private let isTop: Bool
    private let isSingle: Bool
    private var entries: [(key: [UInt8], output: BSONValue)] = []

    init(_ capacity: AccumulatorLimit, _ order: SortOrder, isTop: Bool, isSingle: Bool) {
        self.capacity = capacity
        self.order = order
        self.isTop = isTop
        self.isSingle = isSingle
    }

    override func add(
        _ value: BSONValue?, _ document: BSONDocument
    ) throws(StoreError) -> Int {
        let key = order.key(of: document, metadata: capacity.run.metadata)
        let output = value?.compacted() ?? .null
        let place = entries.insertionPlace { key.lexicographicallyPrecedes($0.key) }
        if entries.count == capacity.count {
            // Of equal ones the first that came are kept.
            let (first, last) = (entries[0].key, entries[entries.count - 1].key)
            let isBetter =
                isTop
                ? key.lexicographicallyPrecedes(last) : first.lexicographicallyPrecedes(key)
            guard isBetter else { return 0 }
            entries.insert((key, output), at: place)
            if isTop { entries.removeLast() } else { entries.removeFirst() }
        } else {
            entries.insert((key, output), at: place)
        }
        return try capacity.memory.add(output) + key.count
    }

    override func result() throws(StoreError) -> BSONValue? {
        guard !isSingle else { return entries.first?.output ?? .null }
        return try ExpressionLimits.array(entries.map(\.output))
    }
}

extension Array {
    /// The position of the first element for which something holds; it holds for all behind it.
    func insertionPlace(_ holds: (Element) -> Bool) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if holds(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
