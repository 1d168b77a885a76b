/// A parsed accumulator that computes one value from the documents of a group.
///
/// Source: MongoDB manual, "Accumulators ($group, $bucket, $bucketAuto, $setWindowFields)".
struct Accumulator: Sendable {
    /// A function that creates the state of a group; its argument is the value of `initial`.
    typealias Make = @Sendable (BSONValue?, PipelineRun) throws(StoreError) -> AccumulatorState

    /// The accumulator's name with the dollar.
    let name: String
    /// The expression for each document; `nil` if the accumulator uses the document itself.
    var argument: Expression?
    /// The expression for the group's key, computed once, such as `n`.
    var initial: Expression?
    let make: Make

    init(
        _ name: String, _ argument: Expression?, initial: Expression? = nil,
        make: @escaping Make
    ) {
        self.name = name
        self.argument = argument
        self.initial = initial
        self.make = make
    }

    /// Creates the state of a group.
    ///
    /// - Parameter key: the group's `_id`, whose fields the group's `n` may use.
    func start(_ key: BSONValue, _ run: PipelineRun) throws(StoreError) -> AccumulatorState {
        guard let initial else { return try make(nil, run) }
        let document = key.documentValue ?? BSONDocument()
        return try make(try initial.evaluate(document, run.frame(for: document)), run)
    }

    /// The accumulator that keeps the last of equal least or greatest values, not the first.
    var keepingLast: Accumulator {
        guard name == "$min" || name == "$max" else { return self }
        let isMax = name == "$max"
        return Accumulator(name, argument) { _, run in
            MinMaxState(isMax: isMax, keepsLast: true, run)
        }
    }

    /// The constant that a counting accumulator adds for every document, if it is one.
    var constantSum: BSONValue? {
        guard name == "$sum", let constant = argument?.constant else { return nil }
        return constant
    }
}

/// The intermediate result of a group.
class AccumulatorState {
    /// Adds the argument's value for one more document.
    ///
    /// - Returns: the additional bytes of memory.
    func add(_ value: BSONValue?, _ document: BSONDocument) throws(StoreError) -> Int { 0 }

    /// Returns the value; `nil` counts as null.
    func result() throws(StoreError) -> BSONValue? { nil }
}

/// An output field with its accumulator.
struct AccumulatorField: Sendable {
    let name: String
    private(set) var accumulator: Accumulator

    /// The field whose accumulator keeps the last of equal values.
    var keepingLast: AccumulatorField {
        var field = self
        field.accumulator = accumulator.keepingLast
        return field
    }

    /// Parses a field such as `total: {$sum: "$amount"}`.
    ///
    /// - Throws: 40234 and the following with MongoDB's text.
    init(
        _ name: String, _ value: BSONValue, _ parser: PipelineParser
    ) throws(StoreError) {
        self.name = name
        guard case .document(let document) = value, let first = document.keys.first,
            first.hasBytePrefix("$")
        else {
            throw .location(40234, "The field '\(name)' must be an accumulator object")
        }
        guard !name.utf8.contains(UInt8(ascii: ".")) else {
            throw .location(40235, "The field name '\(name)' cannot contain '.'")
        }
        guard !name.hasBytePrefix("$") else {
            throw .location(40236, "The field name '\(name)' cannot be an operator name")
        }
        guard document.count == 1 else {
            throw .location(40238, "The field '\(name)' must specify one accumulator")
        }
        guard let parse = Accumulator.all[first] else {
            throw .location(15952, "unknown group operator '\(first)'")
        }
        accumulator = try parse(first, document[first] ?? .null, parser)
    }
}

extension Accumulator {
    /// A function that parses the value behind an accumulator's name.
    typealias Parse =
        @Sendable (String, BSONValue, PipelineParser) throws(StoreError) -> Accumulator

    /// The accumulators of one expression, by name.
    static let unary: [String: Make] = [
        "$addToSet": { _, run in AddToSetState(run) }, "$avg": { _, _ in AverageState() },
        "$concatArrays": { _, run in ConcatArraysState(run) },
        "$first": { _, _ in FirstState() }, "$last": { _, _ in LastState() },
        "$max": { _, run in MinMaxState(isMax: true, run) },
        "$mergeObjects": { _, _ in MergeObjectsState() },
        "$min": { _, run in MinMaxState(isMax: false, run) },
        "$push": { _, run in PushState(run) },
        "$setUnion": { _, run in SetUnionState(run) },
        "$stdDevPop": { _, _ in StandardDeviationState(isSample: false) },
        "$stdDevSamp": { _, _ in StandardDeviationState(isSample: true) },
        "$sum": { _, _ in SumState() },
    ]

    /// All accumulators by name.
    static let all: [String: Parse] = unary.mapValues { make in parseUnary(make) }
        .merging(others) { $1 }

    private static let others: [String: Parse] = [
        "$_internalJsReduce": reduced, "$accumulator": scripted,
        "$bottom": { (name, value, parser) throws(StoreError) in
            try top(name, value, parser, isTop: false, isSingle: true)
        },
        "$bottomN": { (name, value, parser) throws(StoreError) in
            try top(name, value, parser, isTop: false, isSingle: false)
        },
        "$count": count,
        "$firstN": { (name, value, parser) throws(StoreError) in
            try several(name, value, parser) { FirstNState($0) }
        },
        "$lastN": { (name, value, parser) throws(StoreError) in
            try several(name, value, parser) { LastNState($0) }
        },
        "$maxN": { (name, value, parser) throws(StoreError) in
            try several(name, value, parser, isOrdered: true) {
                MinMaxNState($0, isMax: true)
            }
        },
        "$median": { (name, value, parser) throws(StoreError) in
            try percentile(name, value, parser, isMedian: true)
        },
        "$minN": { (name, value, parser) throws(StoreError) in
            try several(name, value, parser, isOrdered: true) {
                MinMaxNState($0, isMax: false)
            }
        },
        "$percentile": { (name, value, parser) throws(StoreError) in
            try percentile(name, value, parser, isMedian: false)
        },
        "$top": { (name, value, parser) throws(StoreError) in
            try top(name, value, parser, isTop: true, isSingle: true)
        },
        "$topN": { (name, value, parser) throws(StoreError) in
            try top(name, value, parser, isTop: true, isSingle: false)
        },
    ]

    private static func parseUnary(_ make: @escaping Make) -> Parse {
        { (name, value, parser) throws(StoreError) in
            if case .array = value {
                throw .location(40237, "The \(name) accumulator is a unary operator")
            }
            return Accumulator(name, try Expression(value, in: parser.scope), make: make)
        }
    }

    private static let count: Parse = { (name, value, _) throws(StoreError) in
        guard case .document(let document) = value, document.isEmpty else {
            throw StoreError(.typeMismatch, "$count takes no arguments, i.e. $count:{}")
        }
        return Accumulator(name, nil) { _, _ in CountState() }
    }
}
