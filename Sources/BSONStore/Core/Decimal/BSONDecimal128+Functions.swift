#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Functions without a closed form, correct to 34 digits except for a rare last digit.
///
/// The angle functions convert arguments of a magnitude beyond 1E+25 to doubles.
extension BSONDecimal128 {
    /// One degree in radians.
    package static let piOver180 = FixedPointNumber.pi.divided(by: 180).decimal()
    /// One radian in degrees.
    package static let of180OverPi = (FixedPointNumber(180) / FixedPointNumber.pi).decimal()
    private static let one = BSONDecimal128(1)
    private static let half = BSONDecimal128(isNegative: false, coefficient: 5, exponent: -1)
    private static let two = BSONDecimal128(2)

    /// The number without its sign.
    var magnitude: BSONDecimal128 { isNegative ? -self : self }

    private func isLess(than power: Int) -> Bool {
        isZero || exponent + WideInteger.digits(coefficient) <= power
    }

    /// e to the power of the number.
    package var exponential: BSONDecimal128 {
        if kind == .nan { return .nan }
        let double = doubleValue
        if double > 15_000 { return .infinity }
        if double < -15_000 {
            return BSONDecimal128(
                isNegative: false, coefficient: 0, exponent: Self.exponents.lowerBound)
        }
        if isLess(than: -50) { return Self.one }
        return Self.exponential(FixedPointNumber(self))
    }

    private static func exponential(_ value: FixedPointNumber) -> BSONDecimal128 {
        let tens = (value.double / log(10)).rounded()
        return (value - FixedPointNumber(Int(tens)) * FixedPointNumber.ln10).exponential.decimal(
            exponent: Int(tens))
    }

    /// The natural logarithm of a positive number.
    package var naturalLogarithm: BSONDecimal128 {
        guard kind == .finite else { return kind == .nan || isNegative ? .nan : self }
        return logarithm.decimal()
    }

    /// The logarithm of a positive finite number with more digits than a decimal has.
    private var logarithm: FixedPointNumber {
        let digits = WideInteger.digits(coefficient)
        let scaled = BSONDecimal128(
            isNegative: false, coefficient: coefficient, exponent: 1 - digits)
        let power = exponent + digits - 1
        // The logarithm of one is exactly zero, not nearly zero.
        let rest =
            scaled == Self.one ? FixedPointNumber.zero : FixedPointNumber(scaled).naturalLogarithm
        return rest + FixedPointNumber(power) * FixedPointNumber.ln10
    }

    /// Returns the logarithm of a positive number to a positive base other than one.
    package func logarithm(base: BSONDecimal128) -> BSONDecimal128 {
        guard kind == .finite, base.kind == .finite else {
            return DecimalArithmetic.divide(naturalLogarithm, base.naturalLogarithm)
        }
        return (logarithm / base.logarithm).decimal()
    }

    /// Returns the number raised to a power.
    package func power(_ other: BSONDecimal128) -> BSONDecimal128 {
        if kind == .nan || other.kind == .nan { return .nan }
        if other.isZero { return Self.one }
        if let whole = other.int64Value, whole.magnitude <= 64, kind == .finite {
            let product = (0..<whole.magnitude).reduce(Self.one) { product, _ in
                DecimalArithmetic.multiply(product, self)
            }
            return whole < 0 ? DecimalArithmetic.divide(Self.one, product) : product
        }
        guard kind == .finite, other.kind == .finite, !isZero else {
            return BSONDecimal128(pow(doubleValue, other.doubleValue))
        }
        let whole = other.quantized(to: 0, .towardZero)
        let isWhole = DecimalArithmetic.subtract(other, whole).isZero
        if isNegative, !isWhole { return .nan }
        let isOdd = (whole.int64Value ?? 0) % 2 != 0
        let size = logarithm.double * other.doubleValue
        guard abs(size) < 15_000, other.magnitude.isLess(than: 25) else {
            return size < 0 ? Self.zero : isNegative && isOdd ? -.infinity : .infinity
        }
        let result = Self.exponential(magnitude.logarithm * FixedPointNumber(other))
        return isNegative && isOdd ? -result : result
    }

    private func apply(
        _ double: (Double) -> Double, _ body: (FixedPointNumber) -> FixedPointNumber
    ) -> BSONDecimal128 {
        if kind == .nan || isZero { return self }
        // This close to zero each of these functions returns the number itself.
        if isLess(than: -40) { return self }
        guard kind == .finite, isLess(than: 25) else { return BSONDecimal128(double(doubleValue)) }
        return body(FixedPointNumber(self)).decimal()
    }

    /// The sine of an angle.
    package var sine: BSONDecimal128 { apply({ sin($0) }) { $0.sineAndCosine.sine } }

    /// The cosine of an angle.
    package var cosine: BSONDecimal128 {
        if isZero || kind == .finite && isLess(than: -40) { return Self.one }
        return apply({ cos($0) }) { $0.sineAndCosine.cosine }
    }

    /// The tangent of an angle.
    package var tangent: BSONDecimal128 {
        apply({ tan($0) }) { value in
            let (sine, cosine) = value.sineAndCosine
            return sine / cosine
        }
    }

    /// The angle whose tangent is the number.
    package var arcTangent: BSONDecimal128 { apply({ atan($0) }) { $0.arcTangent } }

    /// The angle whose sine is the number, between -1 and 1.
    package var arcSine: BSONDecimal128 {
        apply({ asin($0) }) { value in
            let rest = (FixedPointNumber.one - value) * (FixedPointNumber.one + value)
            guard !rest.isZero else {
                let quarter = FixedPointNumber.pi.divided(by: 2)
                return value.isNegative ? -quarter : quarter
            }
            return (value / rest.squareRoot).arcTangent
        }
    }

    /// The angle whose cosine is the number, between -1 and 1.
    package var arcCosine: BSONDecimal128 {
        if kind == .nan { return self }
        let value = isZero || isLess(than: -40) ? FixedPointNumber.zero : FixedPointNumber(self)
        let sum = FixedPointNumber.one + value
        guard !sum.isZero else { return FixedPointNumber.pi.decimal() }
        let root = ((FixedPointNumber.one - value) / sum).squareRoot
        return (root.arcTangent * FixedPointNumber(2)).decimal()
    }

    /// Returns the angle between the first axis and a point; this number is its second coordinate.
    package func arcTangent(over x: BSONDecimal128) -> BSONDecimal128 {
        if kind == .nan || x.kind == .nan { return .nan }
        let isPlain = kind == .finite && x.kind == .finite && !isZero && !x.isZero
        guard isPlain else { return atan2Special(x) }
        let ratio = DecimalArithmetic.divide(self, x)
        guard x.isNegative else { return ratio.arcTangent }
        let angle = ratio.arcTangent
        let half = FixedPointNumber.pi.decimal()
        return DecimalArithmetic.add(angle, isNegative ? -half : half)
    }

    private func atan2Special(_ x: BSONDecimal128) -> BSONDecimal128 {
        let angle = atan2(doubleValue, x.doubleValue)
        guard angle != 0 else { return self }
        let eighths = (angle / (.pi / 4)).rounded()
        return (FixedPointNumber.pi.divided(by: 4) * FixedPointNumber(Int(eighths))).decimal()
    }

    // MARK: Hyperbolic functions

    /// Whether the magnitude is so small that odd functions return the number itself.
    private var isTiny: Bool {
        isZero || kind == .finite && exponent + WideInteger.digits(coefficient) <= -40
    }

    /// The hyperbolic sine.
    package var hyperbolicSine: BSONDecimal128 {
        if kind != .finite || isTiny { return self }
        guard doubleValue.magnitude < 38 else {
            let size = DecimalArithmetic.multiply(
                Self.half, magnitude.exponential)
            return isNegative ? -size : size
        }
        let power = FixedPointNumber(self).exponential
        return (power - FixedPointNumber.one / power).divided(by: 2).decimal()
    }

    /// The hyperbolic cosine.
    package var hyperbolicCosine: BSONDecimal128 {
        if kind == .nan { return self }
        if isTiny { return Self.one }
        guard doubleValue.magnitude < 38 else {
            return DecimalArithmetic.multiply(Self.half, magnitude.exponential)
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
        let result: BSONDecimal128
        if doubleValue.magnitude < 1E9 {
            let value = FixedPointNumber(magnitude)
            let root = (value * value + FixedPointNumber.one).squareRoot
            // ln(x + sqrt(x * x + 1)) without the loss of digits near to zero.
            let tangent = value / root
            result = Self.areaTangent(tangent)
        } else {
            result = DecimalArithmetic.multiply(Self.two, magnitude).naturalLogarithm
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
