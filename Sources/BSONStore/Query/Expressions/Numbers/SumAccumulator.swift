#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Adds up numbers for `$sum` and `$avg`: whole numbers exactly, doubles without their rounding
/// errors adding up.
struct SumAccumulator: Sendable {
    /// How many numbers were added.
    private(set) var count = 0
    private var whole: Int128 = 0
    private var high: Double = 0
    private var low: Double = 0
    private var decimal = BSONDecimal128.zero
    private var hasLong = false
    private var hasDouble = false
    private var hasDecimal = false

    /// Adds a value; what is no number does not count.
    mutating func add(_ value: BSONValue?) {
        switch value {
        case .double(let number):
            hasDouble = true
            add(number)
        case .int32(let number): whole += Int128(number)
        case .int64(let number):
            hasLong = true
            whole += Int128(number)
        case .decimal128(let number):
            hasDecimal = true
            decimal = DecimalArithmetic.add(decimal, number)
        default: return
        }
        count += 1
    }

    private mutating func add(_ number: Double) {
        let sum = high + number
        guard sum.isFinite else {
            high = sum
            low = 0
            return
        }
        // Knuth's two-sum: the part of the sum that was rounded away.
        let part = sum - high
        low += (high - (sum - part)) + (number - part)
        high = sum
    }

    /// The sum, of the widest type that was added.
    var sum: BSONValue {
        if hasDecimal { return .decimal128(decimalSum) }
        if hasDouble { return .double(doubleSum) }
        guard let exact = Int64(exactly: whole) else { return .double(Double(whole)) }
        return hasLong ? .int64(exact) : NumberCoercion.narrow(exact)
    }

    /// The mean, a double or a decimal; null of no numbers.
    var mean: BSONValue {
        guard count > 0 else { return .null }
        if hasDecimal {
            return .decimal128(
                DecimalArithmetic.divide(decimalSum, BSONDecimal128(Int64(count))))
        }
        return .double(doubleSum / Double(count))
    }

    private var doubleSum: Double {
        let rounded = Double(whole)
        let rest = Double(whole - (Int128(exactly: rounded) ?? whole))
        var total = self
        total.add(rounded)
        total.add(rest)
        if total.high.isFinite { return total.high + total.low }
        // Adding +infinity and -infinity sets the NaN's sign bit here; MongoDB's NaN has none.
        return total.high.isNaN ? .nan : total.high
    }

    private var decimalSum: BSONDecimal128 {
        var sum = decimal
        for part in [high, low] where part != 0 {
            sum = DecimalArithmetic.add(
                sum, NumberCoercion.decimal(part, digits: BSONDecimal128.digitsMax))
        }
        guard whole != 0 else { return sum }
        if let exact = Int64(exactly: whole) {
            return DecimalArithmetic.add(sum, BSONDecimal128(exact))
        }
        // A sum of longs that fits no long keeps all of its digits: in two parts that fit.
        let unit: Int64 = 1_000_000_000_000_000_000
        let high = BSONDecimal128(Int64(truncatingIfNeeded: whole / Int128(unit)))
        let low = BSONDecimal128(Int64(truncatingIfNeeded: whole % Int128(unit)))
        let exact = DecimalArithmetic.add(
            DecimalArithmetic.multiply(high, BSONDecimal128(unit)), low)
        return DecimalArithmetic.add(sum, exact)
    }
}

/// Computes the standard deviation of numbers in one pass.
///
/// Source: B. P. Welford, "Note on a Method for Calculating Corrected Sums of Squares" (1962).
struct StandardDeviation: Sendable {
    private var count = 0.0
    private var mean = 0.0
    private var squares = 0.0

    /// Adds a value; what is no number does not count.
    mutating func add(_ value: BSONValue?) {
        guard let number = NumberCoercion.double(value) else { return }
        count += 1
        let distance = number - mean
        mean += distance / count
        squares += distance * (number - mean)
    }

    /// The deviation of the whole population, or of a sample of it; null of too few numbers.
    func value(isSample: Bool) -> BSONValue {
        let divisor = isSample ? count - 1 : count
        return divisor > 0 ? .double((squares / divisor).squareRoot()) : .null
    }
}

/// Finds the number that a part of all numbers does not exceed.
enum Percentile {
    /// The numbers at some parts between 0 and 1; `nil` when there are no numbers.
    static func values(_ numbers: [Double], at parts: [Double]) -> [Double]? {
        let sorted = numbers.filter { !$0.isNaN }.sorted()
        guard !sorted.isEmpty else { return nil }
        return parts.map { part in
            let rank = (Double(sorted.count) * part).rounded(.up) - 1
            return sorted[max(0, min(sorted.count - 1, Int(rank)))]
        }
    }
}
