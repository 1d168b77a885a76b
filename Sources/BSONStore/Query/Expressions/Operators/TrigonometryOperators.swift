#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Operators on angles in radians, and conversions between degrees and radians.
enum TrigonometryOperators {
    /// Each operator by its name.
    static let all: [String: ExpressionOperator] = [
        "$sin": bounded("$sin", .finite, { sin($0) }) { $0.sine },
        "$cos": bounded("$cos", .finite, { cos($0) }) { $0.cosine },
        "$tan": bounded("$tan", .finite, { tan($0) }) { $0.tangent },
        "$asin": bounded("$asin", .within(-1, 1), { asin($0) }) { $0.arcSine },
        "$acos": bounded("$acos", .within(-1, 1), { acos($0) }) { $0.arcCosine },
        "$acosh": bounded("$acosh", .within(1, .infinity), { acosh($0) }) { $0.areaCosine },
        "$atanh": bounded("$atanh", .within(-1, 1), { atanh($0) }) { $0.areaTangent },
        "$atan": bounded("$atan", .all, { atan($0) }) { $0.arcTangent },
        "$sinh": bounded("$sinh", .all, { sinh($0) }) { $0.hyperbolicSine },
        "$cosh": bounded("$cosh", .all, { cosh($0) }) { $0.hyperbolicCosine },
        "$tanh": bounded("$tanh", .all, { tanh($0) }) { $0.hyperbolicTangent },
        "$asinh": bounded("$asinh", .all, { asinh($0) }) { $0.areaSine },
        "$atan2": arcTangent2,
        "$degreesToRadians": .numeric { value throws(StoreError) in
            if case .decimal128(let number) = value {
                return .decimal128(DecimalArithmetic.multiply(number, .piOver180))
            }
            return .double((NumberCoercion.double(value) ?? .nan) * (.pi / 180))
        },
        "$radiansToDegrees": .numeric { value throws(StoreError) in
            if case .decimal128(let number) = value {
                return .decimal128(DecimalArithmetic.multiply(number, .of180OverPi))
            }
            return .double((NumberCoercion.double(value) ?? .nan) * (180 / .pi))
        },
    ]

    /// The range of numbers that an operator accepts.
    private enum Bounds: Sendable {
        case all
        case finite
        case within(Double, Double)

        func contain(_ value: Double) -> Bool {
            switch self {
            case .all: true
            case .finite: value.isFinite
            case .within(let low, let high): value >= low && value <= high
            }
        }

        var text: String {
            switch self {
            case .all, .finite: "(-inf,inf)"
            case .within(let low, let high):
                "[\(ExpressionText.number(low)),\(ExpressionText.number(high))]"
            }
        }
    }

    private static func bounded(
        _ name: String, _ bounds: Bounds, _ double: @escaping @Sendable (Double) -> Double,
        _ decimal: @escaping @Sendable (BSONDecimal128) -> BSONDecimal128
    ) -> ExpressionOperator {
        .numeric { value throws(StoreError) in
            let number = NumberCoercion.double(value) ?? .nan
            if number.isNaN { return value }
            var isIn = bounds.contain(number)
            if case .decimal128(let exact) = value {
                // A decimal just beyond a bound may equal the bound as a double.
                if case .within(let low, let high) = bounds {
                    isIn =
                        BSONOrder.compare(.decimal128(exact), .double(low)) != .less
                        && BSONOrder.compare(.decimal128(exact), .double(high)) != .greater
                } else if case .finite = bounds {
                    isIn = exact.kind == .finite
                }
            }
            guard isIn else {
                let text =
                    value.type == .decimal128
                    ? ExpressionText.text(of: value) : ExpressionText.number(number)
                throw .location(
                    50989, "cannot apply \(name) to \(text), value must in \(bounds.text)")
            }
            if case .decimal128(let exact) = value { return .decimal128(decimal(exact)) }
            return .double(double(number))
        }
    }

    private static let arcTangent2 = ExpressionOperator.fixed(2) {
        arguments, _ throws(StoreError) in
        if arguments.contains(where: NumberCoercion.isNullish) { return .null }
        for (place, code) in ([51044, 51045] as [Int32]).enumerated()
        where !NumberCoercion.isNumber(arguments[place]) {
            throw .location(
                code,
                "$atan2 only supports numeric types, not \(ExpressionText.type(of: arguments[place]))"
            )
        }
        if arguments.contains(where: { $0?.type == .decimal128 }),
            let y = NumberCoercion.decimal(arguments[0]),
            let x = NumberCoercion.decimal(arguments[1])
        {
            return .decimal128(y.arcTangent(over: x))
        }
        let y = NumberCoercion.double(arguments[0]) ?? .nan
        return .double(atan2(y, NumberCoercion.double(arguments[1]) ?? .nan))
    }
}
