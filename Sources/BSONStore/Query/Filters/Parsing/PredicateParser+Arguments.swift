extension PredicateParser {
    /// Whether a value is true in MongoDB: all except false, null, undefined and zero.
    package static func isTrue(_ value: BSONValue) -> Bool {
        switch value {
        case .double, .int32, .int64, .decimal128:
            BSONOrder.compare(value, .int32(0)) != .equal
        case .undefined, .null: false
        case .bool(let value): value
        default: true
        }
    }

    /// Parses the types of `$type`, by alias or number, one or several.
    static func types(
        _ value: BSONValue, _ path: FieldPath
    ) throws(StoreError) -> Predicate.TypeSet {
        var set = Predicate.TypeSet()
        if let array = value.arrayValue {
            for member in array {
                try WorkBudget.spend()
                try insert(member, into: &set)
            }
        } else {
            try insert(value, into: &set)
        }
        guard !set.isEmpty else {
            throw StoreError(.failedToParse, "\(path) must match at least one type")
        }
        return set
    }

    /// Inserts the types of an alias, one type or all numbers.
    ///
    /// - Throws: `badValue` (2) for an unknown alias.
    static func insert(
        alias: String, into set: inout Predicate.TypeSet,
        aliases: [String: BSONType] = BSONType.byAlias
    ) throws(StoreError) {
        if alias == "number" {
            for type in [BSONType.double, .int32, .int64, .decimal128] { set.insert(type) }
        } else if let type = aliases[alias] {
            set.insert(type)
        } else {
            throw StoreError(.badValue, "Unknown type name alias: \(alias)")
        }
    }

    private static func insert(
        _ value: BSONValue, into set: inout Predicate.TypeSet
    ) throws(StoreError) {
        if let alias = value.stringValue { return try insert(alias: alias, into: &set) }
        guard value.isNumber else {
            throw StoreError(
                .typeMismatch, "type must be represented as a number or a string")
        }
        let number = value.wholeNumber ?? 99
        let byte = number == -1 ? 0xFF : UInt8(exactly: number)
        guard number != 255, let byte, let type = BSONType(rawValue: byte) else {
            let hint = number == 0 ? ". Instead use {$exists:false}." : ""
            throw StoreError(
                .badValue, "Invalid numerical type code: \(ShellText.text(of: value))\(hint)")
        }
        set.insert(type)
    }

    /// Parses the number of values for `$size`.
    static func size(_ value: BSONValue) throws(StoreError) -> Int {
        do throws(StoreError) {
            return Int(try IntegerFieldParser.nonNegativeInt32("$size", value))
        } catch {
            throw StoreError(.badValue, "Failed to parse $size. \(error.message)")
        }
    }

    /// Parses the divisor and the remainder of `$mod`, truncated to whole numbers.
    static func modulo(_ value: BSONValue) throws(StoreError) -> Predicate.Test {
        func malformed(_ message: String) -> StoreError {
            StoreError(.badValue, "malformed mod, \(message)")
        }
        guard let array = value.arrayValue else { throw malformed("needs to be an array") }
        var members = array.makeIterator()
        guard let divisor = members.next() else { throw malformed("not enough elements") }
        guard divisor.isNumber else { throw malformed("divisor not a number") }
        guard let remainder = members.next() else { throw malformed("not enough elements") }
        guard remainder.isNumber else { throw malformed("remainder not a number") }
        guard members.next() == nil else { throw malformed("too many elements") }
        let whole = try truncated("divisor", divisor)
        let rest = try truncated("remainder", remainder)
        guard whole != 0 else { throw StoreError(.badValue, "divisor cannot be 0") }
        return .modulo(divisor: whole, remainder: rest)
    }

    private static func truncated(
        _ name: String, _ value: BSONValue
    ) throws(StoreError) -> Int64 {
        if let number = value.truncatedNumber { return number }
        let isFinite =
            switch value {
            case .double(let number): number.isFinite
            case .decimal128(let number): number.kind == .finite
            default: true
            }
        throw StoreError(
            .badValue,
            "malformed mod, \(name) value is invalid :: caused by :: "
                + (isFinite
                    ? "Out of bounds coercing to integral value"
                    : "Unable to coerce NaN/Inf to integral type"))
    }
}
