#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

extension ExpressionMath {
    /// Rounds a number to a number of places behind the point, or before it if negative.
    static func round(
        _ name: String, _ arguments: [BSONValue?], _ rounding: DecimalRounding
    ) throws(StoreError) -> BSONValue {
        guard let value = arguments[0], !NumberCoercion.isNullish(value) else { return .null }
        guard NumberCoercion.isNumber(value) else {
            throw .location(
                51081,
                "\(name) only supports numeric types, not \(ExpressionText.type(of: value))")
        }
        var places: Int64 = 0
        if arguments.count > 1 {
            if NumberCoercion.isNullish(arguments[1]) { return .null }
            places = try NumberCoercion.long(arguments[1])
            guard NumberCoercion.exact32(arguments[1]) != nil else {
                throw .location(51082, "precision argument to  \(name) must be a integral value")
            }
            guard (-20...100).contains(places) else {
                throw .location(
                    51083,
                    "cannot apply \(name) with precision value \(places) value must be in "
                        + "[-20, 100]")
            }
        }
        return try round(name, value, Int(places), rounding)
    }

    private static func round(
        _ name: String, _ value: BSONValue, _ places: Int, _ rounding: DecimalRounding
    ) throws(StoreError) -> BSONValue {
        switch value {
        case .double(let number):
            guard number.isFinite else { return value }
            let decimal = NumberCoercion.decimal(number, digits: BSONDecimal128.digitsMax)
            // A decimal has no digits behind a place with more digits than it can hold.
            let rounded = decimal.quantized(to: -places, rounding)
            return rounded.kind == .nan ? value : .double(rounded.doubleValue)
        case .decimal128(let number):
            if number.kind == .infinite { return value }
            let rounded = number.quantized(to: -places, rounding)
            return rounded.kind == .nan ? value : .decimal128(rounded)
        default:
            guard places < 0, let whole = NumberCoercion.whole(value) else { return value }
            let rounded = BSONDecimal128(whole).quantized(to: -places, rounding)
            guard let result = rounded.int64Value else {
                throw .location(
                    51080,
                    "invalid conversion from Decimal128 result in \(name) resulting from "
                        + "arguments: [\(whole), \(places)]")
            }
            if case .int64 = value { return .int64(result) }
            return NumberCoercion.narrow(result)
        }
    }

    /// Returns the square root of a number that is not negative.
    static func squareRoot(_ value: BSONValue) throws(StoreError) -> BSONValue {
        let fault = StoreError.location(
            28714, "$sqrt's argument must be greater than or equal to 0")
        if case .decimal128(let number) = value {
            if number.isNegative, number.kind != .nan, !number.isZero { throw fault }
            return .decimal128(DecimalArithmetic.squareRoot(number))
        }
        let number = NumberCoercion.double(value) ?? .nan
        guard !(number < 0) else { throw fault }
        return .double(number.squareRoot())
    }

    /// Returns e raised to a number, a double or a decimal.
    static func exponential(_ value: BSONValue) -> BSONValue {
        if case .decimal128(let value) = value { return .decimal128(value.exponential) }
        return .double(exp(NumberCoercion.double(value) ?? .nan))
    }

    /// Returns the natural logarithm of a positive number.
    static func naturalLogarithm(_ value: BSONValue) throws(StoreError) -> BSONValue {
        if case .decimal128(let number) = value, isPositive(number) {
            return .decimal128(number.naturalLogarithm)
        }
        let number = NumberCoercion.double(value) ?? .nan
        guard number > 0 || number.isNaN else { throw notPositive("$ln", 28766, number) }
        return .double(log(number))
    }

    /// Returns the logarithm of a positive number to the base ten.
    static func decimalLogarithm(_ value: BSONValue) throws(StoreError) -> BSONValue {
        if case .decimal128(let number) = value, isPositive(number) {
            let result = number.logarithm(base: BSONDecimal128(10))
            // The server's result has no trailing zeros if it is a whole number.
            let whole = result.quantized(to: 0, .nearestEven)
            let isWhole = BSONOrder.compare(.decimal128(whole), .decimal128(result)) == .equal
            return .decimal128(isWhole ? whole : result)
        }
        let number = NumberCoercion.double(value) ?? .nan
        guard number > 0 || number.isNaN else { throw notPositive("$log10", 28761, number) }
        return .double(log10(number))
    }

    /// Returns the logarithm of a positive number to a positive base other than one.
    static func logarithm(
        _ value: BSONValue?, _ base: BSONValue?
    ) throws(StoreError) -> BSONValue {
        if NumberCoercion.isNullish(value) || NumberCoercion.isNullish(base) { return .null }
        guard let number = NumberCoercion.double(value) else {
            throw .location(
                28756, "$log's argument must be numeric, not \(ExpressionText.type(of: value))")
        }
        guard let baseNumber = NumberCoercion.double(base) else {
            throw .location(
                28757, "$log's base must be numeric, not \(ExpressionText.type(of: base))")
        }
        if value?.type == .decimal128 || base?.type == .decimal128,
            let a = NumberCoercion.decimal(value), let b = NumberCoercion.decimal(base),
            isPositive(a), isPositive(b), baseNumber != 1
        {
            // The quotient of two rounded logarithms, as in MongoDB: 5.999… for 64 to the base 2.
            return .decimal128(DecimalArithmetic.divide(a.naturalLogarithm, b.naturalLogarithm))
        }
        guard number > 0 || number.isNaN else { throw notPositive("$log", 28758, number) }
        guard baseNumber > 0 && baseNumber != 1 || baseNumber.isNaN else {
            throw .location(
                28759,
                "$log's base must be a positive number not equal to 1, but is "
                    + ExpressionText.number(baseNumber))
        }
        return .double(log(number) / log(baseNumber))
    }

    private static func isPositive(_ value: BSONDecimal128) -> Bool {
        value.kind != .nan && !value.isNegative && !value.isZero
    }

    private static func notPositive(_ name: String, _ code: Int32, _ value: Double) -> StoreError {
        .location(
            code,
            "\(name)'s argument must be a positive number, but is \(ExpressionText.number(value))")
    }

    /// Returns a number raised to a power; whole numbers stay whole if the result fits.
    static func power(
        _ base: BSONValue?, _ exponent: BSONValue?
    ) throws(StoreError) -> BSONValue {
        if NumberCoercion.isNullish(base) || NumberCoercion.isNullish(exponent) {
            return .null
        }
        guard let a = NumberCoercion.double(base) else {
            throw .location(
                28762, "$pow's base must be numeric, not \(ExpressionText.type(of: base))")
        }
        guard let b = NumberCoercion.double(exponent) else {
            throw .location(
                28763,
                "$pow's exponent must be numeric, not \(ExpressionText.type(of: exponent))")
        }
        guard !(a == 0 && b < 0) || base?.type == .decimal128 && !isZero(base) else {
            throw .location(28764, "$pow cannot take a base of 0 and a negative exponent")
        }
        if base?.type == .decimal128 || exponent?.type == .decimal128,
            let a = NumberCoercion.decimal(base), let b = NumberCoercion.decimal(exponent)
        {
            // MongoDB adds a zero of the least exponent, which fills up the digits.
            let zero = BSONDecimal128(
                isNegative: false, coefficient: 0, exponent: BSONDecimal128.exponents.lowerBound)
            let power = DecimalArithmetic.add(a.power(b), zero)
            // The server's powers overflow at the greatest number already.
            guard
                power.coefficient < BSONDecimal128.coefficientMax
                    || power.exponent < BSONDecimal128.exponents.upperBound
            else { return .decimal128(power.isNegative ? -.infinity : .infinity) }
            return .decimal128(power)
        }
        guard let x = NumberCoercion.whole(base), let n = NumberCoercion.whole(exponent) else {
            return .double(pow(a, b))
        }
        guard let result = wholePower(x, n) else { return .double(pow(a, b)) }
        if base?.type == .int64 || exponent?.type == .int64 { return .int64(result) }
        return NumberCoercion.narrow(result)
    }

    private static func isZero(_ value: BSONValue?) -> Bool {
        NumberCoercion.decimal(value)?.isZero ?? false
    }

    /// Returns the power if it is a whole number that fits.
    private static func wholePower(_ base: Int64, _ exponent: Int64) -> Int64? {
        if base == 1 || exponent == 0 { return 1 }
        if base == -1 { return exponent.isMultiple(of: 2) ? 1 : -1 }
        if base == 0 { return 0 }
        guard (0...63).contains(exponent) else { return nil }
        var result: Int64 = 1
        for _ in 0..<exponent {
            let (product, overflow) = result.multipliedReportingOverflow(by: base)
            if overflow { return nil }
            result = product
        }
        return result
    }
}
