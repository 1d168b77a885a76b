#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

extension BSONDecimal128 {
    static var piOver180: BSONDecimal128 { BSONDecimal128(Double.pi / 180) }
    static var of180OverPi: BSONDecimal128 { BSONDecimal128(180 / Double.pi) }
    private func by(_ f: (Double) -> Double) -> BSONDecimal128 { BSONDecimal128(f(doubleValue)) }
    var exponential: BSONDecimal128 { by { exp($0) } }
    var naturalLogarithm: BSONDecimal128 { by { log($0) } }
    func logarithm(base: BSONDecimal128) -> BSONDecimal128 {
        by { log($0) / log(base.doubleValue) }
    }
    func power(_ e: BSONDecimal128) -> BSONDecimal128 { by { pow($0, e.doubleValue) } }
    var sine: BSONDecimal128 { by { sin($0) } }
    var cosine: BSONDecimal128 { by { cos($0) } }
    var tangent: BSONDecimal128 { by { tan($0) } }
    var arcSine: BSONDecimal128 { by { asin($0) } }
    var arcCosine: BSONDecimal128 { by { acos($0) } }
    var arcTangent: BSONDecimal128 { by { atan($0) } }
    var hyperbolicSine: BSONDecimal128 { by { sinh($0) } }
    var hyperbolicCosine: BSONDecimal128 { by { cosh($0) } }
    var hyperbolicTangent: BSONDecimal128 { by { tanh($0) } }
    var areaSine: BSONDecimal128 { by { asinh($0) } }
    var areaCosine: BSONDecimal128 { by { acosh($0) } }
    var areaTangent: BSONDecimal128 { by { atanh($0) } }
    func arcTangent(over x: BSONDecimal128) -> BSONDecimal128 { by { atan2($0, x.doubleValue) } }
}
