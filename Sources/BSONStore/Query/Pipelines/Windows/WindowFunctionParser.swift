/// A parser for the function of an output field of `$setWindowFields`.
struct WindowFunctionParser {
    let document: BSONDocument
    /// The sort fields; `nil` without `sortBy`.
    let keys: [SortOrder.Key]?
    let parser: PipelineParser

    /// Parses the function with its window.
    ///
    /// - Throws: `failedToParse` and others with MongoDB's text.
    func function() throws(StoreError) -> any WindowFunction {
        guard let name = document.keys.first(where: { $0.hasBytePrefix("$") }) else {
            let first = document.keys.first.map { ", \($0)" } ?? ""
            throw StoreError(.failedToParse, "Expected a $-prefixed window function\(first)")
        }
        let argument = document[name] ?? .null
        switch name {
        case "$rank", "$denseRank", "$documentNumber": return try rank(name, argument)
        case "$shift": return try shift(argument)
        case "$derivative", "$integral": return try slope(name, argument)
        case "$expMovingAvg": return try movingAverage(argument)
        case "$covariancePop", "$covarianceSamp":
            return CovarianceWindow(
                input: try Expression(argument, in: parser.scope),
                isSample: name == "$covarianceSamp", bounds: try bounds(name))
        case "$locf", "$linearFill": return try fill(name, argument)
        case "$minMaxScaler":
            guard case .document(let fields) = argument else {
                throw StoreError(.failedToParse, "Argument to $minMaxScaler must be an object")
            }
            return try ScalingWindow(fields, try bounds(name), parser)
        default: return try accumulator(name, argument)
        }
    }

    /// Parses the window; the whole partition by default.
    private func bounds(_ name: String) throws(StoreError) -> WindowBounds {
        var bounds = WindowBounds.all
        for (key, value) in document where key != name {
            guard !key.hasBytePrefix("$") else {
                throw StoreError(
                    .failedToParse, "Cannot specify two functions in window function spec")
            }
            guard key == "window" else {
                throw StoreError(
                    .failedToParse, "Window function found an unknown argument: \(key)")
            }
            bounds = try WindowBounds(value, sortedBy: keys, parser.scope)
        }
        return bounds
    }

    /// The accumulators that cannot be window functions.
    private static let excluded: Set = ["$mergeObjects", "$accumulator", "$_internalJsReduce"]

    private func accumulator(
        _ name: String, _ argument: BSONValue
    ) throws(StoreError) -> any WindowFunction {
        guard !Self.excluded.contains(name), let parse = Accumulator.all[name] else {
            throw StoreError(.failedToParse, "Unrecognized window function, \(name)")
        }
        let bounds = try bounds(name)
        if let make = Accumulator.unary[name] {
            let input = try Expression(argument, in: parser.scope)
            return AccumulatorWindow(
                accumulator: Accumulator(name, input, make: make), bounds: bounds)
        }
        return AccumulatorWindow(
            accumulator: try parse(name, argument, parser), bounds: bounds)
    }

    private func rank(
        _ name: String, _ argument: BSONValue
    ) throws(StoreError) -> any WindowFunction {
        guard document.count == 1 else {
            throw .location(
                5_371_601, "Rank style window functions take no other arguments")
        }
        guard case .document(let empty) = argument, empty.isEmpty else {
            throw .location(
                5_371_603, "\(name) must be specified with '{}' as the value")
        }
        guard keys?.count == 1 else {
            throw .location(
                5_371_602,
                "\(name) must be specified with a top level sortBy expression with exactly one "
                    + "element")
        }
        return RankWindow(name: name)
    }

    private func shift(_ argument: BSONValue) throws(StoreError) -> any WindowFunction {
        guard keys != nil else {
            throw StoreError(.failedToParse, "'$shift' requires a sortBy")
        }
        guard case .document(let fields) = argument else {
            throw StoreError(.failedToParse, "Argument to $shift must be an object")
        }
        var shift = ShiftWindow()
        for (key, value) in fields {
            switch key {
            case "output": shift.output = try Expression(value, in: parser.scope)
            case "by":
                guard let number = value.wholeNumber, let by = Int32(exactly: number) else {
                    throw StoreError(
                        .failedToParse,
                        "'$shift:by' field must be an integer, but found by: "
                            + ShellText.text(of: value))
                }
                shift.by = Int(by)
            case "default":
                guard let constant = try Expression(value, in: parser.scope).constant else {
                    throw StoreError(
                        .failedToParse,
                        "'$shift:default' expression must yield a constant value.")
                }
                shift.other = constant
            default:
                throw StoreError(
                    .failedToParse, "Unknown argument in $shift: \(key)")
            }
        }
        guard shift.output != nil else {
            throw StoreError(.failedToParse, "$shift requires an 'output' expression.")
        }
        guard fields["by"] != nil else {
            throw StoreError(.failedToParse, "$shift requires 'by' as an integer value.")
        }
        try checkAlone("$shift")
        return shift
    }

    private func checkAlone(_ name: String) throws(StoreError) {
        for key in document.keys where key != name {
            throw StoreError(
                .failedToParse, "\(name) got unexpected argument: \(key)")
        }
    }

    private func slope(
        _ name: String, _ argument: BSONValue
    ) throws(StoreError) -> any WindowFunction {
        guard keys?.count == 1 else {
            throw StoreError(.failedToParse, "\(name) requires a sortBy")
        }
        guard case .document(let fields) = argument else {
            throw StoreError(
                .failedToParse,
                "\(name) expects an object, but got a "
                    + "\(argument.type.alias): \(name): \(ShellText.text(of: argument))")
        }
        var input: Expression?
        var unit: WindowUnit?
        for (key, value) in fields {
            switch (key, value) {
            case ("input", _): input = try Expression(value, in: parser.scope)
            case ("unit", .string(let text)):
                let read = try WindowUnit(named: text)
                guard read.milliseconds != nil else {
                    throw .location(
                        5_490_710, "unit must be 'week' or smaller")
                }
                unit = read
            case ("unit", _):
                throw StoreError(.failedToParse, "\(name)'s 'unit' must be a string")
            default:
                throw StoreError(
                    .failedToParse, "\(name) got unexpected argument: \(key)")
            }
        }
        guard let input else {
            throw StoreError(.failedToParse, "\(name) requires an 'input' expression")
        }
        guard name == "$integral" || document["window"] != nil else {
            throw StoreError(
                .failedToParse, "$derivative requires explicit window bounds")
        }
        return SlopeWindow(
            name: name, input: input, unit: unit, bounds: try bounds(name))
    }

    private func movingAverage(_ argument: BSONValue) throws(StoreError) -> any WindowFunction {
        guard document.count == 1, case .document(let fields) = argument else {
            throw StoreError(
                .failedToParse,
                "$expMovingAvg must have exactly one argument that is an object")
        }
        let shape =
            "$expMovingAvg sub object must have exactly two fields: An 'input' field, and either an "
            + "'N' field or an 'alpha' field"
        guard fields.count == 2, let value = fields["input"] else {
            throw StoreError(.failedToParse, shape)
        }
        guard keys != nil else {
            throw StoreError(
                .failedToParse, "$expMovingAvg requires an explicit 'sortBy'")
        }
        let input = try Expression(value, in: parser.scope)
        if let count = fields["N"] {
            return MovingAverageWindow(input: input, alpha: try Self.alpha(of: count))
        }
        guard let alpha = fields["alpha"] else {
            throw StoreError(
                .failedToParse, "Got unrecognized field in $expMovingAvg\(shape)")
        }
        guard let decimal = NumberCoercion.decimal(alpha) else {
            throw StoreError(.failedToParse, "'alpha' must be a number")
        }
        guard BSONOrder.compare(alpha, .int32(0)) == .greater,
            BSONOrder.compare(alpha, .int32(1)) == .less
        else {
            throw StoreError(
                .failedToParse,
                "'alpha' must be between 0 and 1 (exclusive), found alpha: "
                    + ShellText.text(of: alpha))
        }
        return MovingAverageWindow(input: input, alpha: decimal)
    }

    private static func alpha(of count: BSONValue) throws(StoreError) -> BSONDecimal128 {
        guard BSONNumber(count) != nil else {
            throw StoreError(
                .failedToParse,
                "'N' field must be an integer, but found type \(count.type.alias)")
        }
        guard let number = count.wholeNumber else {
            throw StoreError(
                .failedToParse,
                "'N' field must be an integer, but found  N: \(ShellText.text(of: count)). To use a "
                    + "non-integer, use the 'alpha' argument instead")
        }
        guard number > 0 else {
            throw StoreError(
                .failedToParse, "'N' must be greater than zero. Got \(number)")
        }
        let divisor = DecimalArithmetic.add(
            BSONDecimal128(number), BSONDecimal128(1))
        return DecimalArithmetic.divide(BSONDecimal128(2), divisor)
    }

    private func fill(
        _ name: String, _ argument: BSONValue
    ) throws(StoreError) -> any WindowFunction {
        for key in document.keys where key != name {
            throw StoreError(
                .failedToParse,
                key == "window"
                    ? "'window' field is not allowed in \(name)"
                    : "Window function found an unknown argument: \(key)")
        }
        let input = try Expression(argument, in: parser.scope)
        guard name == "$linearFill" else { return LastObservationWindow(input: input) }
        guard keys?.count == 1 else {
            throw .location(
                605_001,
                "$linearFill must be specified with a top level sortBy expression with exactly one "
                    + "element")
        }
        return LinearFillWindow(input: input)
    }
}
