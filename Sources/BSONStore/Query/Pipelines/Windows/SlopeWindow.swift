/// The slope between the ends of a window, or the area under its values.
struct SlopeWindow: WindowFunction {
    let name: String
    let input: Expression
    let unit: WindowUnit?
    let bounds: WindowBounds

    func values(
        _ partition: WindowPartition, _ run: PipelineRun
    ) throws(StoreError) -> [BSONValue?] {
        let inputs = try input.values(partition, run)
        var values: [BSONValue?] = []
        for place in inputs.indices {
            let window = try bounds.places(of: place, in: partition)
            values.append(
                name == "$integral"
                    ? try area(window, inputs, partition)
                    : try slope(window, inputs, partition))
        }
        return values
    }

    private func slope(
        _ window: Range<Int>, _ inputs: [BSONValue?], _ partition: WindowPartition
    ) throws(StoreError) -> BSONValue {
        guard let last = window.last else { return .null }
        let first = window.lowerBound
        let (left, right) = (partition.sortValues[first], partition.sortValues[last])
        try checkEnds(left, right)
        let run = try ExpressionMath.subtract(right, left)
        let rise = try ExpressionMath.subtract(inputs[last], inputs[first])
        guard !rise.isNullish else {
            throw .location(5_624_903, "$derivative input must not be null or missing")
        }
        guard BSONOrder.compare(run, .int32(0)) != .equal else { return .null }
        let slope = try ExpressionMath.divide(rise, run)
        guard let milliseconds = unit?.milliseconds else { return slope }
        return ExpressionMath.product(slope, .int64(milliseconds))
    }

    private func checkEnds(_ left: BSONValue, _ right: BSONValue) throws(StoreError) {
        guard unit == nil else {
            guard left.type == .datetime, right.type == .datetime else {
                throw .location(
                    5_624_900, "$derivative with 'unit' expects the sortBy field to be a Date")
            }
            return
        }
        guard left.type != .datetime, right.type != .datetime else {
            throw .location(5_624_901, "$derivative where the sortBy is a Date requires an 'unit'")
        }
        guard BSONNumber(left) != nil, BSONNumber(right) != nil else {
            throw .location(
                5_624_902, "$derivative (with no 'unit') expects the sortBy field to be numeric")
        }
    }

    private func area(
        _ window: Range<Int>, _ inputs: [BSONValue?], _ partition: WindowPartition
    ) throws(StoreError) -> BSONValue {
        guard !window.isEmpty else { return .null }
        var total = SumAccumulator()
        var hasNaN = false
        for place in window {
            let position = partition.sortValues[place]
            try checkPoint(position, inputs[place])
            hasNaN = hasNaN || Self.isNaN(position) || Self.isNaN(inputs[place])
            guard place > window.lowerBound, !hasNaN else { continue }
            let width = try ExpressionMath.subtract(position, partition.sortValues[place - 1])
            var heights = AdditionResult()
            try heights.add(inputs[place] ?? .null)
            try heights.add(inputs[place - 1] ?? .null)
            let rectangle = ExpressionMath.product(heights.value, width)
            total.add(try ExpressionMath.divide(rectangle, .double(2)))
        }
        guard !hasNaN else { return .double(.nan) }
        guard let milliseconds = unit?.milliseconds else { return total.sum }
        return try ExpressionMath.divide(total.sum, .int64(milliseconds))
    }

    private func checkPoint(
        _ position: BSONValue, _ value: BSONValue?
    ) throws(StoreError) {
        let isDate = position.type == .datetime
        guard NumberCoercion.isNumber(value), isDate || BSONNumber(position) != nil else {
            throw .location(
                5_423_900,
                "The input value of $integral window function must be a vector of 2 value, the "
                    + "first value must be numeric or date type and the second must be numeric.")
        }
        guard unit == nil || isDate else {
            throw .location(
                5_423_901, "$integral with 'outputUnit' expects the sortBy field to be a Date")
        }
        guard unit != nil || !isDate else {
            throw .location(
                5_423_902,
                "$integral (with no 'outputUnit') expects the sortBy field to be numeric")
        }
    }

    private static func isNaN(_ value: BSONValue?) -> Bool {
        NumberCoercion.double(value)?.isNaN ?? false
    }
}
