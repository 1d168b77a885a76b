#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

extension BSONDecimal128 {
    private static let half = BSONDecimal128(isNegative: false, coefficient: 5, exponent: -1)
    private static let two = BSONDecimal128(2)

    /// Whether the magnitude is so small that odd functions return the number itself.
    private var isTiny: Bool {
        isZero || kind == .finite && exponent + WideInteger.digits(coefficient) <= -40
    }

    /// The hyperbolic sine.
    package var hyperbolicSine: BSONDecimal128 {
        if kind != .finite || isTiny { return self }
        let magnitude = doubleValue.magnitude
        guard magnitude < 38 else {
            let size = DecimalArithmetic.multiply(
                Self.half, (isNegative ? -self : self).exponential)
            return isNegative ? -size : size
        }
        let power = FixedPointNumber(self).exponential
        return (power - FixedPointNumber.one / power).divided(by: 2).decimal()
    }

    /// The hyperbolic cosine.
    package var hyperbolicCosine: BSONDecimal128 {
        if kind == .nan { return self }
        if isTiny { return BSONDecimal128(1) }
        let positive = isNegative ? -self : self
        guard doubleValue.magnitude < 38 else {
            return DecimalArithmetic.multiply(Self.half, positive.exponential)
        }
        let power = FixedPointNumber(self).exponential
        return (power + FixedPointNumber.one / power).divided(by: 2).decimal()
    }

    /// The hyperbolic tangent.
    package var hyperbolicTangent: BSONDecimal128 {
        if kind == .nan || isTiny { return self }
        guard doubleValue.magnitude < 38 else {
            return BSONDecimal128(isNegative ? -1 : 1 as Int64)
        }
        let power = FixedPointNumber(self).exponential
        let inverse = FixedPointNumber.one / power
        return ((power - inverse) / (power + inverse)).decimal()
    }

    /// The inverse of the hyperbolic sine.
    package var areaSine: BSONDecimal128 {
        if kind != .finite || isTiny { return self }
        let positive = isNegative ? -self : self
        let result: BSONDecimal128
        if doubleValue.magnitude < 1E9 {
            let value = FixedPointNumber(positive)
            let root = (value * value + FixedPointNumber.one).squareRoot
            // ln(x + sqrt(x * x + 1)) without the loss of digits near to zero.
            let tangent = value / root
            result = Self.areaTangent(tangent)
        } else {
            result = DecimalArithmetic.multiply(Self.two, positive).naturalLogarithm
        }
        return isNegative ? -result : result
    }

    /// The inverse of the hyperbolic cosine, for numbers of at least one.
    package var areaCosine: BSONDecimal128 {
        guard kind == .finite else { return self }
        guard doubleValue < 1E9 else {
            return DecimalArithmetic.multiply(Self.two, self).naturalLogarithm
        }
        let value = FixedPointNumber(self)
        let root = ((value - FixedPointNumber.one) * (value + FixedPointNumber.one)).squareRoot
        guard !root.isZero else { return .zero }
        return (value + root).naturalLogarithm.decimal()
    }

    /// The inverse of the hyperbolic tangent, for numbers between -1 and 1.
    package var areaTangent: BSONDecimal128 {
        if kind != .finite || isTiny { return self }
        let value = FixedPointNumber(self)
        let isOne = (FixedPointNumber.one - value).isZero || (FixedPointNumber.one + value).isZero
        if isOne { return isNegative ? -.infinity : .infinity }
        return Self.areaTangent(value)
    }

    private static func areaTangent(_ value: FixedPointNumber) -> BSONDecimal128 {
        let ratio = (FixedPointNumber.one + value) / (FixedPointNumber.one - value)
        guard ratio.double < 1E10, ratio.double > 1E-10 else {
            return DecimalArithmetic.multiply(half, ratio.decimal().naturalLogarithm)
        }
        return ratio.naturalLogarithm.divided(by: 2).decimal()
    }
}
