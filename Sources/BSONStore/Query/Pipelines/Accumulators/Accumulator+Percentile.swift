extension Accumulator {
    /// Parses `{input: <expression>, p: [<numbers>], method: "approximate"}`.
    ///
    /// The results are exact, unlike MongoDB's, which approximates them for large groups.
    static func percentile(
        _ name: String, _ value: BSONValue, _ parser: PipelineParser, isMedian: Bool
    ) throws(StoreError) -> Accumulator {
        guard case .document(let document) = value else {
            throw .location(
                isMedian ? 7_436_100 : 7_429_703,
                "specification must be an object; found \(name): \(ShellText.text(of: value))")
        }
        for key in document.keys where key != "input" && key != "method" {
            guard key == "p", !isMedian else {
                throw StoreError(
                    .idlUnknownField, "BSON field '\(name).\(key)' is an unknown field.")
            }
        }
        for key in isMedian ? ["input", "method"] : ["input", "p", "method"]
        where document[key] == nil {
            throw StoreError(
                .idlFailedToParse, "BSON field '\(name).\(key)' is missing but a required field")
        }
        guard case .string(let method)? = document["method"] else {
            let type = document["method"]?.type.alias ?? ""
            throw StoreError(
                .typeMismatch,
                "BSON field '\(name).method' is the wrong type '\(type)', expected type 'string'")
        }
        guard method == "approximate" else {
            throw StoreError(
                .badValue,
                "Currently only 'approximate' can be used as percentile 'method'.")
        }
        let input = try Expression(document["input"] ?? .null, in: parser.scope)
        let ranks = isMedian ? [0.5] : try ranks(document["p"] ?? .null, parser)
        return Accumulator(name, input) { _, run in
            PercentileState(name, ranks, isMedian: isMedian, run)
        }
    }

    private static func ranks(
        _ value: BSONValue, _ parser: PipelineParser
    ) throws(StoreError) -> [Double] {
        let expression = try Expression(value, in: parser.scope)
        guard let constant = expression.constant else {
            throw .location(
                7_750_300,
                "The $percentile 'p' field must be an array of constant values, but found value: "
                    + "\(ShellText.text(of: value)).")
        }
        func invalid(_ code: Int32, _ found: BSONValue?) -> StoreError {
            .location(
                code,
                "The $percentile 'p' field must be an array of numbers from [0.0, 1.0], but found: "
                    + ExpressionText.text(of: found))
        }
        guard case .array(let array) = constant, !array.isEmpty else {
            throw invalid(7_750_301, constant)
        }
        var ranks: [Double] = []
        for value in array {
            guard let rank = NumberCoercion.double(value) else {
                throw invalid(7_750_302, value)
            }
            guard rank >= 0, rank <= 1 else { throw invalid(7_750_303, value) }
            ranks.append(rank)
        }
        return ranks
    }
}

/// The percentiles of a group's numbers.
final class PercentileState: AccumulatorState {
    private let ranks: [Double]
    private let isMedian: Bool
    private var numbers: [Double] = []
    private var memory: AccumulatorMemory

    init(_ name: String, _ ranks: [Double], isMedian: Bool, _ run: PipelineRun) {
        self.ranks = ranks
        self.isMedian = isMedian
        memory = AccumulatorMemory(name, run.bytesMax)
    }

    override func add(_ value: BSONValue?, _: BSONDocument) throws(StoreError) -> Int {
        guard let number = NumberCoercion.double(value), !number.isNaN else { return 0 }
        numbers.append(number)
        return try memory.add(.double(number))
    }

    override func result() -> BSONValue? {
        let found = Percentile.values(numbers, at: ranks)
        let values = found?.map { BSONValue.double($0) } ?? ranks.map { _ in .null }
        return isMedian ? values[0] : .array(BSONArray(values))
    }
}
