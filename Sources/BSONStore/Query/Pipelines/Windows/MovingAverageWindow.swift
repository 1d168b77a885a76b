/// An exponential moving average.
struct MovingAverageWindow: WindowFunction {
    let input: Expression
    /// The weight of the newest value.
    let alpha: BSONDecimal128

    func values(
        _ partition: WindowPartition, _ run: PipelineRun
    ) throws(StoreError) -> [BSONValue?] {
        let one = BSONDecimal128(1)
        let rest = DecimalArithmetic.add(one, -alpha)
        var average: BSONDecimal128?
        var isDecimal = false
        return try input.values(partition, run).map { value in
            if let number = NumberCoercion.decimal(value) {
                if case .decimal128? = value { isDecimal = true }
                average =
                    average.map { average in
                        DecimalArithmetic.add(
                            DecimalArithmetic.multiply(number, alpha),
                            DecimalArithmetic.multiply(average, rest))
                    } ?? number
            }
            return average.map { average in
                isDecimal ? .decimal128(average) : .double(average.doubleValue)
            }
        }
    }
}
