/// The running product of `$multiply`: whole numbers exactly and as doubles side by side, after an
/// overflow as doubles only.
///
/// Source: the server's `evaluate_math.cpp`, `MultiplyState`.
struct MultiplicationResult {
    private var whole: Int64 = 1
    private var double: Double = 1
    private var decimal = BSONDecimal128.zero
    private var width = Width.int

    private enum Width: Int {
        case int
        case long
        case double
        case decimal
    }

    /// Multiplies by a number; any other value counts as NaN.
    mutating func multiply(by value: BSONValue) {
        let wanted: Width =
            switch value {
            case .int32: .int
            case .int64: .long
            case .decimal128: .decimal
            default: .double
            }
        let before = width
        if wanted.rawValue > width.rawValue { width = wanted }
        guard width != .decimal else {
            if before != .decimal {
                decimal =
                    before == .double
                    ? NumberCoercion.decimal(double, digits: 15) : BSONDecimal128(whole)
            }
            decimal = DecimalArithmetic.multiply(decimal, NumberCoercion.decimal(value) ?? .nan)
            return
        }
        double *= NumberCoercion.double(value) ?? .nan
        guard width != .double, let factor = NumberCoercion.whole(value) else { return }
        let (product, overflow) = whole.multipliedReportingOverflow(by: factor)
        if overflow { width = .double } else { whole = product }
    }

    /// The product in the widest type of the factors; a product of ints that exceeds an int is a
    /// long.
    var value: BSONValue {
        switch width {
        case .int: NumberCoercion.narrow(whole)
        case .long: .int64(whole)
        case .double: .double(double)
        case .decimal: .decimal128(decimal)
        }
    }
}
