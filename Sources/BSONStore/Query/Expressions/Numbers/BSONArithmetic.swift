/// Addition and multiplication of numbers of any widths by MongoDB's rules.
///
/// The wider type wins: int32, int64, double, Decimal128. An int32 that overflows becomes an int64;
/// an int64 that overflows has no result.
package enum BSONArithmetic {
    /// Returns the sum; `nil` for other types and for an overflow of int64.
    package static func add(_ left: BSONValue, _ right: BSONValue) -> BSONValue? {
        apply(
            left, right, whole: { $0.addingReportingOverflow($1) }, double: { $0 + $1 },
            decimal: DecimalArithmetic.add)
    }

    /// Returns the difference; `nil` for other types and for an overflow of int64.
    package static func subtract(_ left: BSONValue, _ right: BSONValue) -> BSONValue? {
        apply(
            left, right, whole: { $0.subtractingReportingOverflow($1) }, double: { $0 - $1 },
            decimal: { DecimalArithmetic.add($0, -$1) })
    }

    /// Returns the product; `nil` for other types and for an overflow of int64.
    static func multiply(_ left: BSONValue, _ right: BSONValue) -> BSONValue? {
        apply(
            left, right, whole: { $0.multipliedReportingOverflow(by: $1) }, double: { $0 * $1 },
            decimal: DecimalArithmetic.multiply)
    }

    private static func apply(
        _ left: BSONValue, _ right: BSONValue,
        whole operation: (Int64, Int64) -> (partialValue: Int64, overflow: Bool),
        double: (Double, Double) -> Double,
        decimal: (BSONDecimal128, BSONDecimal128) -> BSONDecimal128
    ) -> BSONValue? {
        if left.type == .decimal128 || right.type == .decimal128 {
            guard let a = self.decimal(left), let b = self.decimal(right) else { return nil }
            return .decimal128(decimal(a, b))
        }
        if let a = whole(left), let b = whole(right) {
            let (result, overflow) = operation(a, b)
            guard !overflow else { return nil }
            if case .int32 = left, case .int32 = right, let narrow = Int32(exactly: result) {
                return .int32(narrow)
            }
            return .int64(result)
        }
        guard let a = number(left), let b = number(right) else { return nil }
        let result = double(a, b)
        // The sign of a NaN depends on the processor.
        return .double(result.isNaN ? .nan : result)
    }

    /// The integer that a value is; `nil` for other types.
    static func whole(_ value: BSONValue) -> Int64? {
        switch value {
        case .int32(let value): Int64(value)
        case .int64(let value): value
        default: nil
        }
    }

    private static func number(_ value: BSONValue) -> Double? {
        if case .double(let value) = value { return value }
        return whole(value).map { Double($0) }
    }

    private static func decimal(_ value: BSONValue) -> BSONDecimal128? {
        switch value {
        case .double: return NumberCoercion.decimal(value)
        case .decimal128(let value): return value
        default: return whole(value).map { BSONDecimal128($0) }
        }
    }
}
