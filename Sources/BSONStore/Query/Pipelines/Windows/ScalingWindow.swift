/// The place of each number between the least and the greatest one of its window, on a scale.
///
/// Source: MongoDB manual, "$minMaxScaler (window function)".
struct ScalingWindow: WindowFunction {
    let input: Expression
    let bounds: WindowBounds
    /// The beginning of the scale.
    private var least = BSONValue.int32(0)
    /// The end of the scale.
    private var greatest = BSONValue.int32(1)

    /// Creates the function with the fields of its argument.
    ///
    /// - Throws: `failedToParse`.
    init(
        _ fields: BSONDocument, _ bounds: WindowBounds, _ parser: PipelineParser
    ) throws(StoreError) {
        guard bounds.containsCurrent else {
            throw StoreError(
                .failedToParse, "$minMaxScaler requires a window that contains the document")
        }
        for key in fields.keys where !["input", "min", "max"].contains(key) {
            throw StoreError(.failedToParse, "$minMaxScaler got unexpected argument: \(key)")
        }
        guard let input = fields["input"] else {
            throw StoreError(.failedToParse, "$minMaxScaler requires an 'input' expression")
        }
        self.input = try Expression(input, in: parser.scope)
        self.bounds = bounds
        guard fields.count > 1 else { return }
        least = try Self.constant("min", fields, parser)
        greatest = try Self.constant("max", fields, parser)
        guard BSONOrder.compare(least, greatest) == .less else {
            throw StoreError(
                .failedToParse, "'max' of $minMaxScaler must be greater than 'min'")
        }
    }

    private static func constant(
        _ name: String, _ fields: BSONDocument, _ parser: PipelineParser
    ) throws(StoreError) -> BSONValue {
        guard let value = fields[name] else {
            throw StoreError(
                .failedToParse, "$minMaxScaler requires both or neither of 'min' and 'max'")
        }
        guard case .some(.some(let number)) = try Expression(value, in: parser.scope).constant,
            NumberCoercion.isNumber(number)
        else {
            throw StoreError(
                .failedToParse, "'\(name)' of $minMaxScaler must be a constant number")
        }
        return number
    }

    func values(
        _ partition: WindowPartition, _ run: PipelineRun
    ) throws(StoreError) -> [BSONValue?] {
        let inputs = try input.values(partition, run)
        for value in inputs { _ = try WindowNumber(value) }
        let lows = try extremes("$min", partition, run)
        let highs = try extremes("$max", partition, run)
        let begin = try WindowNumber(least)
        let length = try WindowNumber(greatest).minus(begin)
        var values: [BSONValue?] = []
        for place in inputs.indices {
            guard BSONOrder.compare(lows[place] ?? .null, highs[place] ?? .null) == .less else {
                values.append(least)
                continue
            }
            let low = try WindowNumber(lows[place])
            let range = try WindowNumber(highs[place]).minus(low)
            let distance = try WindowNumber(inputs[place]).minus(low)
            values.append(distance.divided(by: range).times(length).plus(begin).value)
        }
        return values
    }

    /// Returns the least or greatest number of each window.
    private func extremes(
        _ name: String, _ partition: WindowPartition, _ run: PipelineRun
    ) throws(StoreError) -> [BSONValue?] {
        guard let make = Accumulator.unary[name] else { return [] }
        let window = AccumulatorWindow(
            accumulator: Accumulator(name, input, make: make), bounds: bounds)
        return try window.values(partition, run)
    }
}
