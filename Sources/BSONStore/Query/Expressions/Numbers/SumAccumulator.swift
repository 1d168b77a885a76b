#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// The running sum for `$sum` and `$avg`: whole numbers exactly, doubles with compensation for
/// rounding errors.
struct SumAccumulator: Sendable {
    /// Whether longs are added as doubles, as by the expression `$avg`, but not by the accumulator.
    private let roundsLongs: Bool
    /// The number of numbers that were added.
    private(set) var count = 0
    private var whole: Int128 = 0
    private var high: Double = 0
    private var low: Double = 0
    private var decimal = BSONDecimal128.zero
    private var hasLong = false
    private var hasDouble = false
    private var hasDecimal = false

    /// Creates a sum of nothing.
    ///
    /// - Parameter roundsLongs: whether longs are added as doubles, for ``mean``.
    init(roundsLongs: Bool = false) { self.roundsLongs = roundsLongs }

    /// Adds a value; other types are ignored.
    mutating func add(_ value: BSONValue?) {
        switch value {
        case .double(let number):
            hasDouble = true
            add(number)
        case .int32(let number): whole += Int128(number)
        case .int64(let number) where roundsLongs:
            hasDouble = true
            add(Double(number))
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

    /// Returns the sum of what both added.
    func joined(with other: SumAccumulator) -> SumAccumulator {
        var joined = self
        joined.count += other.count
        joined.whole += other.whole
        joined.hasLong = hasLong || other.hasLong
        joined.hasDouble = hasDouble || other.hasDouble
        joined.hasDecimal = hasDecimal || other.hasDecimal
        if other.hasDecimal {
            joined.decimal = DecimalArithmetic.add(decimal, other.decimal)
        }
        if other.hasDouble {
            joined.add(other.high)
            if joined.high.isFinite { joined.low += other.low }
        }
        return joined
    }

    private mutating func add(_ number: Double) {
        let sum = high + number
        guard sum.isFinite else {
            high = sum
            low = 0
            return
        }
        // Knuth's two-sum: the part of the sum that was rounded off.
        let part = sum - high
        low += (high - (sum - part)) + (number - part)
        high = sum
    }

    /// The sum, in the widest type that was added.
    var sum: BSONValue {
        if hasDecimal { return .decimal128(decimalSum) }
        if hasDouble { return .double(doubleSum) }
        guard let exact = Int64(exactly: whole) else { return .double(Double(whole)) }
        return hasLong ? .int64(exact) : NumberCoercion.narrow(exact)
    }

    /// The mean, a double or a decimal; null without numbers.
    var mean: BSONValue {
        guard count > 0 else { return .null }
        if hasDecimal {
            // The server adds the sum of the other numbers: without any, a zero of exponent zero.
            let total = DecimalArithmetic.add(decimalSum, .zero)
            return .decimal128(DecimalArithmetic.divide(total, BSONDecimal128(Int64(count))))
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
        // A sum of longs that exceeds a long keeps all its digits, as two parts that fit.
        let unit: Int64 = 1_000_000_000_000_000_000
        let high = BSONDecimal128(Int64(truncatingIfNeeded: whole / Int128(unit)))
        let low = BSONDecimal128(Int64(truncatingIfNeeded: whole % Int128(unit)))
        let exact = DecimalArithmetic.add(
            DecimalArithmetic.multiply(high, BSONDecimal128(unit)), low)
        return DecimalArithmetic.add(sum, exact)
    }
}
