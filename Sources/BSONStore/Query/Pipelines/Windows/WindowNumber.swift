/// A double, or a decimal as soon as one operand is a decimal.
struct WindowNumber {
    private enum Number {
        /// A whole number, which a decimal meets with all of its digits, and no others.
        case whole(Int64)
        case double(Double)
        case decimal(BSONDecimal128)
    }

    private let number: Number

    private init(_ number: Number) { self.number = number }

    /// Converts a number.
    ///
    /// - Throws: `typeMismatch` for other types.
    init(_ value: BSONValue?) throws(StoreError) {
        if case .decimal128(let decimal)? = value {
            number = .decimal(decimal)
        } else if case .int32(let whole)? = value {
            number = .whole(Int64(whole))
        } else if case .int64(let whole)? = value {
            number = .whole(whole)
        } else if let double = NumberCoercion.double(value) {
            number = .double(double)
        } else {
            throw StoreError(
                .typeMismatch,
                "can't compute with a value of type \(ExpressionText.type(of: value))")
        }
    }

    /// Converts a number, or the milliseconds of a date.
    init(position value: BSONValue) throws(StoreError) {
        if case .datetime(let date) = value {
            try self.init(.int64(date.milliseconds))
        } else {
            try self.init(value)
        }
    }

    var value: BSONValue {
        switch number {
        case .whole(let value): .double(Double(value))
        case .double(let value): .double(value)
        case .decimal(let value): .decimal128(value)
        }
    }

    var isDecimal: Bool {
        if case .decimal = number { true } else { false }
    }

    /// Whether the number is neither infinite nor NaN: only then it minus itself is zero.
    var isFinite: Bool {
        switch number {
        case .whole: true
        case .double(let value): value.isFinite
        case .decimal(let value): !DecimalArithmetic.add(value, -value).doubleValue.isNaN
        }
    }

    func plus(_ other: Self) -> Self {
        whole(other) { $0.addingReportingOverflow($1) }
            ?? combined(other, +, DecimalArithmetic.add)
    }

    func minus(_ other: Self) -> Self {
        whole(other) { $0.subtractingReportingOverflow($1) }
            ?? combined(other, -) { DecimalArithmetic.add($0, -$1) }
    }

    func times(_ other: Self) -> Self {
        whole(other) { $0.multipliedReportingOverflow(by: $1) }
            ?? combined(other, *, DecimalArithmetic.multiply)
    }

    func divided(by other: Self) -> Self { combined(other, /, DecimalArithmetic.divide) }

    /// Returns the result of two whole numbers; `nil` for others, and if it is too great.
    private func whole(
        _ other: Self, _ operation: (Int64, Int64) -> (partialValue: Int64, overflow: Bool)
    ) -> Self? {
        guard case .whole(let left) = number, case .whole(let right) = other.number else {
            return nil
        }
        let (result, overflows) = operation(left, right)
        return overflows ? nil : Self(.whole(result))
    }

    private func combined(
        _ other: Self, _ double: (Double, Double) -> Double,
        _ decimal: (BSONDecimal128, BSONDecimal128) -> BSONDecimal128
    ) -> Self {
        if let left = self.double, let right = other.double {
            return Self(.double(double(left, right)))
        }
        return Self(.decimal(decimal(self.decimal, other.decimal)))
    }

    /// The number as a double; `nil` for a decimal.
    private var double: Double? {
        switch number {
        case .whole(let value): Double(value)
        case .double(let value): value
        case .decimal: nil
        }
    }

    private var decimal: BSONDecimal128 {
        switch number {
        case .whole(let value): BSONDecimal128(value)
        case .double(let value): NumberCoercion.decimal(.double(value)) ?? .nan
        case .decimal(let value): value
        }
    }
}
