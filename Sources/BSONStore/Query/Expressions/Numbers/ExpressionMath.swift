#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Arithmetic on numbers of all widths; the wider type wins.
enum ExpressionMath {
    /// Returns the sum of numbers and at most one date.
    static func add(
        _ nodes: [ExpressionNode], _ context: inout ExpressionContext
    ) throws(StoreError) -> BSONValue? {
        var sum = AdditionResult()
        for node in nodes {
            let value = try node.evaluate(&context)
            guard let value, !NumberCoercion.isNullish(value) else { return .null }
            try sum.add(value)
        }
        return sum.value
    }

    /// Returns the difference of two numbers, of two dates, or of a date and a number of
    /// milliseconds.
    static func subtract(
        _ left: BSONValue?, _ right: BSONValue?
    ) throws(StoreError) -> BSONValue {
        if let a = NumberCoercion.whole(left), let b = NumberCoercion.whole(right) {
            let (result, overflow) = a.subtractingReportingOverflow(b)
            if overflow { return .double(Double(a) - Double(b)) }
            if case .int32 = left, case .int32 = right { return NumberCoercion.narrow(result) }
            return .int64(result)
        }
        if NumberCoercion.isNumber(left), NumberCoercion.isNumber(right) {
            if left?.type == .decimal128 || right?.type == .decimal128 {
                let a = NumberCoercion.decimal(left) ?? .nan
                let b = NumberCoercion.decimal(right) ?? .nan
                return .decimal128(DecimalArithmetic.subtract(a, b))
            }
            let a = NumberCoercion.double(left) ?? .nan
            return .double(a - (NumberCoercion.double(right) ?? .nan))
        }
        if NumberCoercion.isNullish(left) || NumberCoercion.isNullish(right) { return .null }
        if case .datetime(let date) = left {
            return try subtract(date.milliseconds, right)
        }
        throw cannotSubtract(left, right)
    }

    private static func subtract(
        _ date: Int64, _ right: BSONValue?
    ) throws(StoreError) -> BSONValue {
        let amount: Int64
        switch right {
        case .datetime(let other): amount = other.milliseconds
        case .double(let value):
            guard value.rounded() >= -0x1p63, value.rounded() < 0x1p63 else {
                throw StoreError(.overflow, "date overflow in $subtract")
            }
            amount = Int64(value.rounded())
        case .int32, .int64: amount = NumberCoercion.whole(right) ?? 0
        case .decimal128(let value):
            guard let whole = value.quantized(to: 0, .nearestEven).int64Value else {
                throw StoreError(.overflow, "date overflow in $subtract")
            }
            amount = whole
        default: throw cannotSubtract(.datetime(BSONDatetime(milliseconds: date)), right)
        }
        let (result, overflow) = date.subtractingReportingOverflow(amount)
        guard !overflow else { throw StoreError(.overflow, "date overflow in $subtract") }
        if case .datetime = right { return .int64(result) }
        return .datetime(BSONDatetime(milliseconds: result))
    }

    private static func cannotSubtract(_ left: BSONValue?, _ right: BSONValue?) -> StoreError {
        StoreError(
            .typeMismatch,
            "can't $subtract \(ExpressionText.type(of: right)) from "
                + ExpressionText.type(of: left))
    }

    /// Returns the product of numbers; whole numbers that overflow become doubles.
    static func multiply(
        _ nodes: [ExpressionNode], _ context: inout ExpressionContext
    ) throws(StoreError) -> BSONValue? {
        var product = MultiplicationResult()
        for node in nodes {
            let value = try node.evaluate(&context)
            guard let value, !NumberCoercion.isNullish(value) else { return .null }
            guard NumberCoercion.isNumber(value) else {
                throw StoreError(
                    .typeMismatch,
                    "$multiply only supports numeric types, not "
                        + ExpressionText.type(of: value))
            }
            product.multiply(by: value)
        }
        return product.value
    }

    /// Returns the product of two numbers.
    static func product(_ left: BSONValue, _ right: BSONValue) -> BSONValue {
        if left.type == .decimal128 || right.type == .decimal128 {
            let a = NumberCoercion.decimal(left) ?? .nan
            let b = NumberCoercion.decimal(right) ?? .nan
            return .decimal128(DecimalArithmetic.multiply(a, b))
        }
        if let a = NumberCoercion.whole(left), let b = NumberCoercion.whole(right) {
            let (result, overflow) = a.multipliedReportingOverflow(by: b)
            if !overflow {
                if case .int32 = left, case .int32 = right {
                    return NumberCoercion.narrow(result)
                }
                return .int64(result)
            }
        }
        let a = NumberCoercion.double(left) ?? .nan
        return .double(a * (NumberCoercion.double(right) ?? .nan))
    }

    /// The error of a division by zero.
    static var divisionByZero: StoreError {
        StoreError(.badValue, "can't $divide by zero")
    }

    /// Returns the quotient, a double or a decimal.
    static func divide(_ left: BSONValue?, _ right: BSONValue?) throws(StoreError) -> BSONValue {
        guard let a = NumberCoercion.double(left), let b = NumberCoercion.double(right) else {
            return try nullOrMismatch("$divide", .typeMismatch, left, right)
        }
        if left?.type == .decimal128 || right?.type == .decimal128 {
            let divisor = NumberCoercion.decimal(right) ?? .nan
            guard !divisor.isZero else { throw divisionByZero }
            let dividend = NumberCoercion.decimal(left) ?? .nan
            return .decimal128(DecimalArithmetic.divide(dividend, divisor))
        }
        guard b != 0 else { throw divisionByZero }
        return .double(a / b)
    }

    /// Returns the remainder of a division, with the sign of the dividend.
    static func remainder(
        _ left: BSONValue?, _ right: BSONValue?
    ) throws(StoreError) -> BSONValue {
        guard let a = NumberCoercion.double(left), let b = NumberCoercion.double(right) else {
            return try nullOrMismatch("$mod", .moduloOfNonNumber, left, right)
        }
        if left?.type == .decimal128 || right?.type == .decimal128 {
            let divisor = NumberCoercion.decimal(right) ?? .nan
            guard !divisor.isZero else { throw .location(5_733_415, "can't $mod by zero") }
            let dividend = NumberCoercion.decimal(left) ?? .nan
            return .decimal128(DecimalArithmetic.remainder(dividend, divisor))
        }
        guard b != 0 else { throw .location(16610, "can't $mod by zero") }
        // A double that is a small whole number counts as one where it divides.
        guard let x = NumberCoercion.whole(left),
            let y = NumberCoercion.whole(right) ?? NumberCoercion.exact32(right).map(Int64.init)
        else { return .double(fmod(a, b)) }
        let rest = y == -1 ? 0 : x % y
        if left?.type == .int64 || right?.type == .int64 { return .int64(rest) }
        return .int32(Int32(truncatingIfNeeded: rest))
    }

    private static func nullOrMismatch(
        _ name: String, _ code: StoreError.Code, _ left: BSONValue?, _ right: BSONValue?
    ) throws(StoreError) -> BSONValue {
        if NumberCoercion.isNullish(left) || NumberCoercion.isNullish(right) { return .null }
        throw StoreError(
            code,
            "\(name) only supports numeric types, not \(ExpressionText.type(of: left)) and "
                + ExpressionText.type(of: right))
    }

    /// Returns the number without its sign.
    static func absolute(_ value: BSONValue) throws(StoreError) -> BSONValue {
        switch value {
        case .double(let value): return .double(value.magnitude)
        case .int32(let value): return NumberCoercion.narrow(Int64(value).magnitudeAsIs)
        case .decimal128(let value): return .decimal128(value.isNegative ? -value : value)
        default:
            guard let whole = NumberCoercion.whole(value), whole != .min else {
                throw .location(28680, "can't take $abs of long long min")
            }
            return .int64(whole.magnitudeAsIs)
        }
    }

    /// Returns the next whole number in a direction.
    static func whole(
        _ value: BSONValue, _ rule: FloatingPointRoundingRule, _ rounding: DecimalRounding
    ) -> BSONValue {
        switch value {
        case .double(let value): .double(value.rounded(rule))
        // The server quantizes, which gives NaN for infinities and wholes of more than 34 digits.
        case .decimal128(let number): .decimal128(number.quantized(to: 0, rounding))
        default: value
        }
    }
}

extension Int64 {
    /// The number without its sign; the least number overflows to itself.
    fileprivate var magnitudeAsIs: Int64 { self < 0 ? 0 &- self : self }
}
