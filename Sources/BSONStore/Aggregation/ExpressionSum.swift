/// Adds numbers as `$add` does: whole numbers exactly, from an overflow on as doubles.
struct ExpressionSum {
    private var whole: Int64 = 0
    private var double: Double = 0
    private var decimal = BSONDecimal128.zero
    private var width = Width.int
    private var hasDate = false

    private enum Width: Int {
        case int
        case long
        case double
        case decimal
    }

    /// Adds a number or a date.
    ///
    /// - Throws: `typeMismatch` for other types, 16612 for a second date.
    mutating func add(_ value: BSONValue) throws(StoreError) {
        var operand = value
        var wanted = width
        switch value {
        case .datetime(let date):
            guard !hasDate else {
                throw .location(16612, "only one date allowed in an $add expression")
            }
            hasDate = true
            operand = .int64(date.milliseconds)
        case .int32: break
        case .int64: wanted = .long
        case .double: wanted = .double
        case .decimal128: wanted = .decimal
        default:
            throw StoreError(
                .typeMismatch,
                "$add only supports numeric or date types, not \(ExpressionText.type(of: value))")
        }
        if wanted.rawValue > width.rawValue { widen(to: wanted) }
        switch width {
        case .int, .long:
            let (sum, overflow) = whole.addingReportingOverflow(
                ExpressionNumber.whole(operand) ?? 0)
            if overflow {
                width = .double
                double = Double(whole) + (ExpressionNumber.double(operand) ?? .nan)
            } else {
                whole = sum
            }
        case .double: double += ExpressionNumber.double(operand) ?? .nan
        case .decimal:
            decimal = DecimalArithmetic.add(decimal, ExpressionNumber.decimal(operand) ?? .nan)
        }
    }

    private mutating func widen(to wanted: Width) {
        switch wanted {
        case .int, .long: break
        case .double: double = Double(whole)
        case .decimal:
            decimal =
                width == .double
                ? ExpressionNumber.decimal(double, digits: BSONDecimal128.digitsMax)
                : BSONDecimal128(whole)
        }
        width = wanted
    }

    /// The sum: a date where one was added, else a number of the widest type.
    var value: BSONValue {
        get throws(StoreError) {
            guard hasDate else { return number }
            switch width {
            case .int, .long: return .datetime(BSONDatetime(milliseconds: whole))
            case .double:
                guard double >= -0x1p63, double < 0x1p63 else {
                    throw StoreError(.overflow, "date overflow in $add")
                }
                return .datetime(BSONDatetime(milliseconds: Int64(double.rounded())))
            case .decimal:
                let cut = decimal.quantized(to: 0, .nearestEven).int64Value ?? .min
                return .datetime(BSONDatetime(milliseconds: cut))
            }
        }
    }

    private var number: BSONValue {
        switch width {
        case .int: ExpressionNumber.narrow(whole)
        case .long: .int64(whole)
        case .double: .double(double)
        case .decimal: .decimal128(decimal)
        }
    }
}
