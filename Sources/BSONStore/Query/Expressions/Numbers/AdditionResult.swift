/// The running sum of `$add`: exact for whole numbers, a double after an overflow.
///
/// Each number added to a date is rounded to whole milliseconds by itself.
///
/// Source: the server's `evaluate_math.cpp`, `AddState`.
struct AdditionResult {
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
        var wanted = width
        switch value {
        case .datetime(let date):
            guard !hasDate else {
                throw .location(16612, "only one date allowed in an $add expression")
            }
            let before = number
            hasDate = true
            whole = 0
            try addToDate(before)
            return try addToDate(.int64(date.milliseconds))
        case .int32: break
        case .int64: wanted = .long
        case .double: wanted = .double
        case .decimal128: wanted = .decimal
        default:
            throw StoreError(
                .typeMismatch,
                "$add only supports numeric or date types, not \(ExpressionText.type(of: value))")
        }
        guard !hasDate else { return try addToDate(value) }
        if wanted.rawValue > width.rawValue { widen(to: wanted) }
        switch width {
        case .int, .long:
            let (sum, overflow) = whole.addingReportingOverflow(
                NumberCoercion.whole(value) ?? 0)
            if overflow {
                width = .double
                double = Double(whole) + (NumberCoercion.double(value) ?? .nan)
            } else {
                whole = sum
            }
        case .double: double += NumberCoercion.double(value) ?? .nan
        case .decimal:
            decimal = DecimalArithmetic.add(decimal, NumberCoercion.decimal(value) ?? .nan)
        }
    }

    private mutating func widen(to wanted: Width) {
        switch wanted {
        case .int, .long: break
        case .double: double = Double(whole)
        case .decimal:
            decimal =
                width == .double
                ? NumberCoercion.decimal(double, digits: BSONDecimal128.digitsMax)
                : BSONDecimal128(whole)
        }
        width = wanted
    }

    private mutating func addToDate(_ value: BSONValue) throws(StoreError) {
        let amount: Int64? =
            switch value {
            case .double(let number): Int64(exactly: number.rounded())
            case .decimal128(let number): number.quantized(to: 0, .nearestEven).int64Value
            default: NumberCoercion.whole(value)
            }
        guard let amount else { throw StoreError(.overflow, "date overflow") }
        let (sum, overflow) = whole.addingReportingOverflow(amount)
        guard !overflow else { throw StoreError(.overflow, "date overflow") }
        whole = sum
    }

    /// The sum: a date if one was added, else a number of the widest type.
    var value: BSONValue { hasDate ? .datetime(BSONDatetime(milliseconds: whole)) : number }

    private var number: BSONValue {
        switch width {
        case .int: NumberCoercion.narrow(whole)
        case .long: .int64(whole)
        case .double: .double(double)
        case .decimal: .decimal128(decimal)
        }
    }
}
