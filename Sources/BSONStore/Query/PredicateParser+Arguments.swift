extension PredicateParser {
    /// MongoDB's truth: everything but false, null, undefined and zero.
    static func isTrue(_ value: BSONValue) -> Bool {
        switch value {
        case .double, .int32, .int64, .decimal128:
            BSONOrder.compare(value, .int32(0)) != .equal
        case .undefined, .null: false
        case .bool(let value): value
        default: true
        }
    }

    /// The types that `$type` names, by alias or number, one or several.
    static func types(_ value: BSONValue) throws(StoreError) -> Predicate.TypeSet {
        var set = Predicate.TypeSet()
        if let array = value.arrayValue {
            guard !array.isEmpty else {
                throw StoreError(.failedToParse, "$type must match at least one type")
            }
            for member in array { try insert(member, into: &set) }
        } else {
            try insert(value, into: &set)
        }
        return set
    }

    private static func insert(
        _ value: BSONValue, into set: inout Predicate.TypeSet
    ) throws(StoreError) {
        if let alias = value.stringValue {
            guard alias != "number" else {
                for type in [BSONType.double, .int32, .int64, .decimal128] { set.insert(type) }
                return
            }
            guard let type = aliases[alias] else {
                throw StoreError(.badValue, "Unknown type name alias: \(alias)")
            }
            return set.insert(type)
        }
        guard let number = value.wholeNumber else {
            throw StoreError(
                .typeMismatch, "type must be represented as a number or a string")
        }
        let byte = number == -1 ? 0xFF : UInt8(exactly: number)
        guard number != 255, let byte, let type = BSONType(rawValue: byte) else {
            throw StoreError(.badValue, "Invalid numerical type code: \(number)")
        }
        set.insert(type)
    }

    /// Source: MongoDB manual, "BSON Types".
    private static let aliases: [String: BSONType] = [
        "double": .double, "string": .string, "object": .document, "array": .array,
        "binData": .binary, "undefined": .undefined, "objectId": .objectID, "bool": .bool,
        "date": .datetime, "null": .null, "regex": .regularExpression,
        "dbPointer": .dbPointer, "javascript": .javascript, "symbol": .symbol,
        "javascriptWithScope": .javascriptWithScope, "int": .int32, "timestamp": .timestamp,
        "long": .int64, "decimal": .decimal128, "minKey": .minKey, "maxKey": .maxKey,
    ]

    /// The number of values that `$size` asks for.
    static func size(_ value: BSONValue) throws(StoreError) -> Int {
        let shown = "$size: \(ShellText.text(of: value))"
        guard value.isNumber else {
            throw StoreError(
                .badValue, "Failed to parse $size. Expected a number in: \(shown)")
        }
        guard let size = value.wholeNumber else {
            throw StoreError(
                .badValue, "Failed to parse $size. Expected an integer: \(shown)")
        }
        guard size >= 0 else {
            throw StoreError(
                .badValue, "Failed to parse $size. Expected a non-negative number in: \(shown)")
        }
        return Int(size)
    }

    /// The divisor and the remainder of `$mod`, cut to whole numbers.
    static func modulo(_ value: BSONValue) throws(StoreError) -> Predicate.Test {
        guard let array = value.arrayValue else {
            throw StoreError(.badValue, "malformed mod, needs to be an array")
        }
        let values = array.values
        guard values.count >= 2 else {
            throw StoreError(.badValue, "malformed mod, not enough elements")
        }
        guard values.count == 2 else {
            throw StoreError(.badValue, "malformed mod, too many elements")
        }
        guard values[0].isNumber else {
            throw StoreError(.badValue, "malformed mod, divisor not a number")
        }
        guard values[1].isNumber else {
            throw StoreError(.badValue, "malformed mod, remainder not a number")
        }
        guard let divisor = values[0].truncatedNumber else {
            throw StoreError(
                .badValue,
                "malformed mod, divisor value is invalid :: caused by :: Unable to coerce NaN/Inf "
                    + "to integral type")
        }
        guard let remainder = values[1].truncatedNumber else {
            throw StoreError(
                .badValue,
                "malformed mod, remainder value is invalid :: caused by :: Unable to coerce NaN/Inf "
                    + "to integral type")
        }
        guard divisor != 0 else { throw StoreError(.badValue, "divisor cannot be 0") }
        return .modulo(divisor: divisor, remainder: remainder)
    }
}

extension BSONValue {
    /// Whether it is a number of any width.
    var isNumber: Bool {
        switch self {
        case .double, .int32, .int64, .decimal128: true
        default: false
        }
    }

    /// The whole number that it is, of any width, `nil` when it is none or does not fit.
    var wholeNumber: Int64? {
        guard case .decimal128(let value) = self else { return int64Value }
        return value.truncated.flatMap { $0.isExact ? $0.value : nil }
    }

    /// The number without its fraction, `nil` when it is none or does not fit.
    var truncatedNumber: Int64? {
        switch self {
        case .double(let value): Int64(exactly: value.rounded(.towardZero))
        case .int32(let value): Int64(value)
        case .int64(let value): value
        case .decimal128(let value): value.truncated?.value
        default: nil
        }
    }
}

extension BSONDecimal128 {
    /// The whole part and whether it is all, `nil` when it does not fit an int64.
    var truncated: (value: Int64, isExact: Bool)? {
        guard kind == .finite else { return nil }
        var (coefficient, exponent, isExact) = (self.coefficient, self.exponent, true)
        while exponent < 0, coefficient != 0 {
            let (quotient, remainder) = coefficient.quotientAndRemainder(dividingBy: 10)
            coefficient = quotient
            exponent += 1
            if remainder != 0 { isExact = false }
        }
        while exponent > 0, coefficient != 0 {
            guard coefficient <= UInt128(Int64.max) else { return nil }
            coefficient *= 10
            exponent -= 1
        }
        guard coefficient <= UInt128(Int64.max) + (isNegative ? 1 : 0) else { return nil }
        let magnitude = UInt64(coefficient)
        let value = isNegative ? Int64(truncatingIfNeeded: 0 &- magnitude) : Int64(magnitude)
        return (value, isExact)
    }
}
