/// A number of any width, compared by its exact value.
package enum BSONNumber {
    case integer(Int64)
    case double(Double)
    case decimal(BSONDecimal128)

    /// Creates a number from a value of any width; `nil` for other types.
    package init?(_ value: BSONValue) {
        switch value {
        case .double(let value): self = .double(value)
        case .int32(let value): self = .integer(Int64(value))
        case .int64(let value): self = .integer(value)
        case .decimal128(let value): self = .decimal(value)
        default: return nil
        }
    }

    /// Creates a number from a value in place, of any width; `nil` for other types.
    package init?(_ value: BSONRawValue) {
        switch value.typeByte {
        case BSONType.double.rawValue: self = .double(value.double)
        case BSONType.int32.rawValue: self = .integer(Int64(value.int32))
        case BSONType.int64.rawValue: self = .integer(value.int64)
        case BSONType.decimal128.rawValue: self = .decimal(value.decimal128)
        default: return nil
        }
    }

    /// Orders two numbers; a NaN equals a NaN of any width and is less than all other numbers.
    package static func compare(_ left: Self, _ right: Self) -> BSONOrder {
        switch (left, right) {
        case (.integer(let a), .integer(let b)): return BSONOrder(a, b)
        case (.double(let a), .double(let b)): return compare(a, b)
        case (.integer(let a), .double(let b)): return compare(b, a).reversed
        case (.double(let a), .integer(let b)): return compare(a, b)
        case (.decimal(let a), .decimal(let b)):
            return BSONExactNumber.compare(BSONExactNumber(a), BSONExactNumber(b))
        case (.decimal(let a), _):
            return BSONExactNumber.compare(BSONExactNumber(a), right.exact)
        case (_, .decimal(let b)):
            return BSONExactNumber.compare(left.exact, BSONExactNumber(b))
        }
    }

    private var exact: BSONExactNumber {
        switch self {
        case .integer(let value): BSONExactNumber(value)
        case .double(let value): BSONExactNumber(value)
        case .decimal(let value): BSONExactNumber(value)
        }
    }

    private static func compare(_ left: Double, _ right: Double) -> BSONOrder {
        if left < right { return .less }
        if left > right { return .greater }
        if left == right { return .equal }
        return BSONOrder(left.isNaN ? 0 : 1, right.isNaN ? 0 : 1)
    }

    private static func compare(_ left: Double, _ right: Int64) -> BSONOrder {
        if left.isNaN || left < -0x1p63 { return .less }
        if left >= 0x1p63 { return .greater }
        let whole = left.rounded(.towardZero)
        let order = BSONOrder(Int64(whole), right)
        return order == .equal ? compare(left, whole) : order
    }
}
