#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

extension FixedPointNumber {
    /// The natural logarithm of ten.
    static let ln10 = FixedPointNumber(10).naturalLogarithm
    /// The ratio of a circle's circumference to its diameter, by Machin's formula.
    static let pi =
        FixedPointNumber(16) * arcTangent(ofReciprocal: 5)
        - FixedPointNumber(4) * arcTangent(ofReciprocal: 239)

    private static func arcTangent(ofReciprocal value: UInt64) -> FixedPointNumber {
        var power = one.divided(by: value)
        var sum = power
        for term in 1..<120 {
            power = power.divided(by: value * value)
            let part = power.divided(by: UInt64(2 * term + 1))
            sum = term % 2 == 1 ? sum - part : sum + part
        }
        return sum
    }

    /// e to the power of a number of a magnitude below 40.
    var exponential: FixedPointNumber {
        // Halve the argument eight times, then square the result as often.
        let small = divided(by: 256)
        var term = Self.one
        var sum = Self.one
        for index in 1..<60 {
            term = (term * small).divided(by: UInt64(index))
            sum = sum + term
        }
        for _ in 0..<8 { sum = sum * sum }
        return sum
    }

    /// The natural logarithm of a number between 1E-10 and 1E+10.
    var naturalLogarithm: FixedPointNumber {
        // Each step triples the number of correct digits, of which a double has 15.
        var result = FixedPointNumber(log(double))
        for _ in 0..<3 {
            let power = result.exponential
            let correction = (self - power) / (self + power)
            result = result + correction + correction
        }
        return result
    }

    /// The square root of a number that is not negative.
    var squareRoot: FixedPointNumber {
        guard !isZero else { return self }
        var root = FixedPointNumber(double.squareRoot())
        guard !root.isZero else { return self }
        for _ in 0..<5 { root = (root + self / root).divided(by: 2) }
        return root
    }

    /// Sine and cosine of a number of a magnitude below 1E+30.
    var sineAndCosine: (sine: FixedPointNumber, cosine: FixedPointNumber) {
        let quarter = Self.pi.divided(by: 2)
        let turns = (self / quarter).rounded
        var (sine, cosine) = (self - turns * quarter).smallSineAndCosine
        let count = turns.lowestBits % 4
        for _ in 0..<(turns.isNegative ? (4 - count) % 4 : count) {
            (sine, cosine) = (cosine, -sine)
        }
        return (sine, cosine)
    }

    private var smallSineAndCosine: (FixedPointNumber, FixedPointNumber) {
        let square = self * self
        var (sine, cosine) = (self, Self.one)
        var (odd, even) = (self, Self.one)
        for index in 1..<40 {
            let n = UInt64(2 * index)
            even = -(even * square).divided(by: n * (n - 1))
            odd = -(odd * square).divided(by: n * (n + 1))
            cosine = cosine + even
            sine = sine + odd
        }
        return (sine, cosine)
    }

    /// The arc tangent of a number of a magnitude below 1E+30.
    var arcTangent: FixedPointNumber {
        // A double's angle, plus the small remainder by the addition theorem.
        let angle = FixedPointNumber(atan(double))
        let (sine, cosine) = angle.sineAndCosine
        let rest = (self * cosine - sine) / (cosine + self * sine)
        let square = rest * rest
        let cube = (square * rest).divided(by: 3)
        return angle + rest - cube + (square * square * rest).divided(by: 5)
    }
}
