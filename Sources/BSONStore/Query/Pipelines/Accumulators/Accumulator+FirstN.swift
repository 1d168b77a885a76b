extension Accumulator {
    /// Parses `{input: <expression>, n: <expression>}`.
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

    /// Parses `{output: <expression>, sortBy: <order>, n: <expression>}`.
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
            case ("sortBy", _):
                order = try SortStage.order(
                    ExpressionArguments.fields(of: value, named: key), parser)
            default: throw .location(5_788_002, "Unknown argument to \(name) '\(key)'")
            }
        }
        if isSingle { count = try Expression(.int32(1), in: parser.scope) }
        guard let count else { throw .location(5_788_003, "Missing value for 'n'") }
        guard let output else { throw .location(5_788_004, "Missing value for 'output'") }
        guard let order else { throw .location(5_788_005, "Missing value for 'sortBy'") }
        guard !order.keys.isEmpty else {
            throw .location(9_657_900, "\(name) needs at least one key in 'sortBy'")
        }
        return Accumulator(name, output, initial: count) { (value, run) throws(StoreError) in
            let capacity = try AccumulatorLimit(name, value, run)
            return TopState(capacity, order, isTop: isTop, isSingle: isSingle)
        }
    }
}

extension Array {
    /// Returns the position of the first element for which a condition holds that also holds for
    /// all later ones.
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
