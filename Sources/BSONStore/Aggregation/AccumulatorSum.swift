/// Adds numbers so that rounding errors of doubles do not add up, in the widest type that was added.
///
/// Whole numbers are added exactly: int32 become int64 and, beyond that, double. Doubles are added
/// in two parts, the sum and what was lost by rounding.
///
/// Source: MongoDB manual, "$sum (accumulator)"; the two parts are Knuth's two-sum.
struct NumberSum: Sendable {
    private var whole: Int128 = 0
    private var high = 0.0
    private var low = 0.0
    /// What infinities and NaNs add up to, which have no rest.
    private var special = 0.0
    private var decimal = BSONDecimal128.zero
    private var width = Width.int32

    private enum Width: Int, Comparable {
        case int32
        case int64
        case double
        case decimal

        static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// Adds a number.
    ///
    /// - Returns: whether it was one; others are passed over.
    @discardableResult
    mutating func add(_ value: BSONValue?) -> Bool {
        switch value {
        case .double(let value):
            width = max(width, .double)
            add(value)
        case .int32(let value): whole += Int128(value)
        case .int64(let value):
            width = max(width, .int64)
            whole += Int128(value)
        case .decimal128(let value):
            width = .decimal
            decimal = DecimalArithmetic.add(decimal, value)
        default: return false
        }
        return true
    }

    private mutating func add(_ value: Double) {
        guard value.isFinite else { return special += value }
        let sum = high + value
        let part = sum - high
        low += (high - (sum - part)) + (value - part)
        high = sum
    }

    /// The sum in the widest type that was added.
    var value: BSONValue {
        switch width {
        case .int32, .int64:
            guard let exact = Int64(exactly: whole) else { return .double(Double(whole)) }
            return width == .int32 ? PipelineNumber.narrow(exact) : .int64(exact)
        case .double: return .double(double)
        case .decimal: return .decimal128(decimalSum)
        }
    }

    /// The sum divided by a number of values; a decimal when one was added, else a double.
    func average(of count: Int) -> BSONValue {
        guard width == .decimal else {
            let sum = width == .double ? double : Double(whole)
            return .double(sum / Double(count))
        }
        return .decimal128(
            PipelineNumber.divide(decimalSum, BSONDecimal128(Int64(count))))
    }

    /// The sum of what is no decimal, as a double.
    private var double: Double {
        guard special == 0 else { return special }
        let whole = Double(self.whole)
        let rest = Double(self.whole - (Int128(exactly: whole) ?? self.whole))
        var sum = self
        sum.add(whole)
        sum.add(rest)
        return sum.high.isFinite ? sum.high + sum.low : sum.high
    }

    private var decimalSum: BSONDecimal128 {
        var sum = decimal
        guard special == 0 else { return DecimalArithmetic.add(sum, BSONDecimal128(special)) }
        for part in [high, low] where part != 0 {
            let digits = PipelineNumber.decimal(part, digits: BSONDecimal128.digitsMax)
            sum = DecimalArithmetic.add(sum, digits)
        }
        if whole != 0 {
            let exact = Int64(exactly: whole).map { BSONDecimal128($0) }
            sum = DecimalArithmetic.add(sum, exact ?? BSONDecimal128(Double(whole)))
        }
        return sum
    }
}

/// Adds the numbers of a group.
final class SumState: AccumulatorState {
    private var sum = NumberSum()

    override func add(_ value: BSONValue?, _: BSONDocument) -> Int {
        sum.add(value)
        return 0
    }

    override func result() -> BSONValue? { sum.value }
}

/// Averages the numbers of a group; null without any.
final class AverageState: AccumulatorState {
    private var sum = NumberSum()
    private var count = 0

    override func add(_ value: BSONValue?, _: BSONDocument) -> Int {
        if sum.add(value) { count += 1 }
        return 0
    }

    override func result() -> BSONValue? { count == 0 ? .null : sum.average(of: count) }
}

/// Counts the documents of a group.
final class CountState: AccumulatorState {
    private var count = 0

    override func add(_: BSONValue?, _: BSONDocument) -> Int {
        count += 1
        return 0
    }

    override func result() -> BSONValue? { .count(count) }
}

/// Computes the standard deviation of the numbers of a group, of all or as of a sample.
///
/// Source: B. P. Welford, "Note on a method for calculating corrected sums of squares and products".
final class DeviationState: AccumulatorState {
    private let isSample: Bool
    private var count = 0.0
    private var mean = 0.0
    private var squares = 0.0

    init(isSample: Bool) { self.isSample = isSample }

    override func add(_ value: BSONValue?, _: BSONDocument) -> Int {
        guard let number = PipelineNumber.double(value) else { return 0 }
        count += 1
        let distance = number - mean
        if distance != 0 || !distance.isFinite {
            mean += distance / count
            squares += distance * (number - mean)
        }
        return 0
    }

    override func result() -> BSONValue? {
        let divisor = isSample ? count - 1 : count
        return divisor <= 0 ? .null : .double((squares / divisor).squareRoot())
    }
}
