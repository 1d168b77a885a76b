/// Numbers the documents of a partition in their order.
struct RankWindow: WindowFunction {
    let name: String

    func values(_ partition: WindowPartition, _: PipelineRun) -> [BSONValue?] {
        var rank = 0
        var values: [BSONValue?] = []
        for place in partition.documents.indices {
            let isNew =
                place == 0 || partition.sortKeys[place] != partition.sortKeys[place - 1]
            switch name {
            case "$documentNumber": rank = place + 1
            case "$denseRank": rank += isNew ? 1 : 0
            default: rank = isNew ? place + 1 : rank
            }
            values.append(.count(rank))
        }
        return values
    }
}

/// Gives the value of a document that stands before or behind.
struct ShiftWindow: WindowFunction {
    var output: Expression?
    var by = 0
    /// What stands for a document outside of the partition, or for a missing value.
    var other: BSONValue?

    func values(
        _ partition: WindowPartition, _ run: PipelineRun
    ) throws(StoreError) -> [BSONValue?] {
        let outputs = try output?.values(partition, run) ?? []
        return outputs.indices.map { place in
            let wanted = place + by
            return outputs.indices.contains(wanted) ? outputs[wanted] ?? other : other
        }
    }
}

/// Gives the last value that was not null.
struct LastObservationWindow: WindowFunction {
    let input: Expression

    func values(
        _ partition: WindowPartition, _ run: PipelineRun
    ) throws(StoreError) -> [BSONValue?] {
        var last: BSONValue?
        return try input.values(partition, run).map { value in
            if let value, !value.isNullish { last = value }
            return last
        }
    }
}

/// Puts numbers on a straight line in the place of nulls between two numbers.
struct LinearFillWindow: WindowFunction {
    let input: Expression

    func values(
        _ partition: WindowPartition, _ run: PipelineRun
    ) throws(StoreError) -> [BSONValue?] {
        var values = try input.values(partition, run)
        var known: Int?
        for place in values.indices {
            try check(partition.sortValues[place], besides: partition.sortValues[0])
            if place > 0, partition.sortKeys[place] == partition.sortKeys[place - 1] {
                throw .location(
                    6_050_106, "There can be no repeated values in the sort field")
            }
            guard let value = values[place], !value.isNullish else { continue }
            guard BSONNumber(value) != nil else {
                throw StoreError(
                    .typeMismatch, "Value to be filled must be numeric or nullish")
            }
            if let known, known + 1 < place { try fill(&values, known, place, partition) }
            known = place
        }
        return values
    }

    /// Refuses what is no place on a line, and dates among numbers.
    private func check(_ value: BSONValue, besides first: BSONValue) throws(StoreError) {
        guard value.isNumber || value.type == .datetime else {
            throw StoreError(
                .typeMismatch,
                "$linearFill sorts by numbers or dates, found \(value.type.alias)")
        }
        guard value.isNumber == first.isNumber else {
            throw StoreError(.typeMismatch, "$linearFill sorts by numbers or by dates, not both")
        }
    }

    private func fill(
        _ values: inout [BSONValue?], _ from: Int, _ to: Int, _ partition: WindowPartition
    ) throws(StoreError) {
        let start = try WindowNumber(values[from])
        let end = try WindowNumber(values[to])
        let first = try WindowNumber(position: partition.sortValues[from])
        let length = try WindowNumber(position: partition.sortValues[to]).minus(first)
        for place in (from + 1)..<to {
            let distance = try WindowNumber(position: partition.sortValues[place]).minus(first)
            // The slope comes first, as the server rounds it.
            let slope = end.minus(start).divided(by: length)
            values[place] = start.plus(distance.times(slope)).value
        }
    }
}

/// Averages values so that older ones count less and less.
struct MovingAverageWindow: WindowFunction {
    let input: Expression
    /// How much the newest value counts.
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

/// Computes how two series of numbers vary together.
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
        // What is infinite has no distance from a mean.
        guard numbers.allSatisfy(\.isFinite) else {
            return numbers.contains(where: \.isDecimal) ? .decimal128(.nan) : .double(.nan)
        }
        return sum.divided(by: try WindowNumber(.double(Double(divisor)))).value
    }
}

/// Computes with doubles, or with decimals as soon as one is there.
private struct WindowNumber {
    private enum Number {
        case double(Double)
        case decimal(BSONDecimal128)
    }

    private let number: Number

    private init(_ number: Number) { self.number = number }

    /// Takes a number.
    ///
    /// - Throws: `typeMismatch` for what is none.
    init(_ value: BSONValue?) throws(StoreError) {
        if case .decimal128(let decimal)? = value {
            number = .decimal(decimal)
        } else if let double = NumberCoercion.double(value) {
            number = .double(double)
        } else {
            throw StoreError(
                .typeMismatch,
                "can't compute with a value of type \(ExpressionText.type(of: value))")
        }
    }

    /// Takes a number, or the milliseconds of a date.
    init(position value: BSONValue) throws(StoreError) {
        if case .datetime(let date) = value {
            try self.init(.int64(date.milliseconds))
        } else {
            try self.init(value)
        }
    }

    var value: BSONValue {
        switch number {
        case .double(let value): .double(value)
        case .decimal(let value): .decimal128(value)
        }
    }

    var isDecimal: Bool {
        if case .decimal = number { true } else { false }
    }

    /// Whether it is no infinity and not NaN, neither of which is zero less itself.
    var isFinite: Bool {
        switch number {
        case .double(let value): value.isFinite
        case .decimal(let value): !DecimalArithmetic.add(value, -value).doubleValue.isNaN
        }
    }

    func plus(_ other: Self) -> Self { combined(other, +, DecimalArithmetic.add) }

    func minus(_ other: Self) -> Self {
        combined(other, -) { DecimalArithmetic.add($0, -$1) }
    }

    func times(_ other: Self) -> Self { combined(other, *, DecimalArithmetic.multiply) }

    func divided(by other: Self) -> Self { combined(other, /, DecimalArithmetic.divide) }

    private func combined(
        _ other: Self, _ double: (Double, Double) -> Double,
        _ decimal: (BSONDecimal128, BSONDecimal128) -> BSONDecimal128
    ) -> Self {
        if case .double(let left) = number, case .double(let right) = other.number {
            return Self(.double(double(left, right)))
        }
        return Self(.decimal(decimal(self.decimal, other.decimal)))
    }

    private var decimal: BSONDecimal128 {
        switch number {
        case .double(let value): NumberCoercion.decimal(.double(value)) ?? .nan
        case .decimal(let value): value
        }
    }
}
