/// The covariance of two series of numbers.
struct CovarianceWindow: WindowFunction {
    let input: Expression
    let isSample: Bool
    let bounds: WindowBounds

    func values(
        _ partition: WindowPartition, _ run: PipelineRun
    ) throws(StoreError) -> [BSONValue?] {
        var inputs: [(WindowNumber, WindowNumber)?] = []
        for value in try input.values(partition, run) {
            guard case .array(let pair)? = value, pair.count == 2,
                NumberCoercion.isNumber(pair[0]), NumberCoercion.isNumber(pair[1])
            else {
                inputs.append(nil)
                continue
            }
            inputs.append((try WindowNumber(pair[0]), try WindowNumber(pair[1])))
        }
        var values: [BSONValue?] = []
        for place in inputs.indices {
            let window = try bounds.places(of: place, in: partition)
            values.append(try covariance(inputs[window].compactMap { $0 }))
        }
        return values
    }

    private func covariance(
        _ pairs: [(WindowNumber, WindowNumber)]
    ) throws(StoreError) -> BSONValue {
        let zero = try WindowNumber(.double(0))
        var (first, second, sum) = (zero, zero, zero)
        for (index, pair) in pairs.enumerated() {
            let count = try WindowNumber(.double(Double(index + 1)))
            let distance = pair.0.minus(first)
            first = first.plus(distance.divided(by: count))
            second = second.plus(pair.1.minus(second).divided(by: count))
            sum = sum.plus(distance.times(pair.1.minus(second)))
        }
        let divisor = isSample ? pairs.count - 1 : pairs.count
        guard divisor > 0 else { return .null }
        let numbers = pairs.flatMap { [$0.0, $0.1] }
        // Infinite values have no distance from a mean.
        guard numbers.allSatisfy(\.isFinite) else {
            return numbers.contains(where: \.isDecimal) ? .decimal128(.nan) : .double(.nan)
        }
        return sum.divided(by: try WindowNumber(.double(Double(divisor)))).value
    }
}
