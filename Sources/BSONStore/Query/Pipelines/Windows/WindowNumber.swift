/// A double, or a decimal as soon as one operand is a decimal.
struct WindowNumber {
    private enum Number {
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
        case .double(let value): value.isFinite
        case .decimal(let value): !DecimalArithmetic.add(value, -value).doubleValue.isNaN
        }
    }

    func plus(_ other: Self) -> Self { combined(other, +, DecimalArithmetic.add) }

    func minus(_ other: Self) -> Self {
        combined(other, -) { DecimalArithmetic.add($0, -$1) }
    }

    func times(_ other: Self) -> Self { combined(other, *, DecimalArithmetic.multiply) }

    func divided(by other: Self) -> Self { combined(other, /, DecimalArithmetic.divide) }

    private func combined(
        _ other: Self, _ double: (Double, Double) -> Double,
        _ decimal: (BSONDecimal128, BSONDecimal128) -> BSONDecimal128
    ) -> Self {
        if case .double(let left) = number, case .double(let right) = other.number {
            return Self(.double(double(left, right)))
        }
        return Self(.decimal(decimal(self.decimal, other.decimal)))
    }

    private var decimal: BSONDecimal128 {
        switch number {
        case .double(let value): NumberCoercion.decimal(.double(value)) ?? .nan
        case .decimal(let value): value
        }
    }
}
