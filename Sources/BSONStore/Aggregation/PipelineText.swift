/// Prints values as the server's aggregation does in its error texts.
///
/// Source: the server's `Value::toString`.
enum PipelineText {
    /// The name of a value's type, "missing" for none.
    static func type(of value: BSONValue?) -> String { value?.type.alias ?? "missing" }

    /// One value, "MISSING" for none.
    static func text(of value: BSONValue?) -> String {
        switch value {
        case nil: "MISSING"
        case .double(let value): number(value)
        case .document(let value): text(of: value)
        case .array(let value): "[" + value.map { text(of: $0) }.joined(separator: ", ") + "]"
        case .objectID(let value): value.description
        case .decimal128(let value): value.description
        case .some(let value): ShellText.text(of: value)
        }
    }

    /// A document with its fields in order.
    static func text(of document: BSONDocument) -> String {
        let fields = document.map { "\($0.key): \(text(of: $0.value))" }
        return "{\(fields.joined(separator: ", "))}"
    }

    /// A number as short as it can be written.
    static func number(_ value: Double) -> String {
        guard value.isFinite else { return value.isNaN ? "nan" : value < 0 ? "-inf" : "inf" }
        let text = value.description
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}

/// Reads numbers out of values.
enum PipelineNumber {
    /// The nearest double; `nil` for what is no number.
    static func double(_ value: BSONValue?) -> Double? {
        switch value {
        case .double(let value): value
        case .int32(let value): Double(value)
        case .int64(let value): Double(value)
        case .decimal128(let value): value.doubleValue
        default: nil
        }
    }

    /// The decimal; `nil` for what is no number.
    static func decimal(_ value: BSONValue?) -> BSONDecimal128? {
        switch value {
        case .double(let value): BSONDecimal128(value)
        case .int32(let value): BSONDecimal128(Int64(value))
        case .int64(let value): BSONDecimal128(value)
        case .decimal128(let value): value
        default: nil
        }
    }

    /// The decimal of a double.
    static func decimal(_ value: Double, digits _: Int) -> BSONDecimal128 {
        BSONDecimal128(value)
    }

    /// An int32 where the number fits, else an int64.
    static func narrow(_ value: Int64) -> BSONValue {
        Int32(exactly: value).map { .int32($0) } ?? .int64(value)
    }

    /// The quotient.
    static func divide(_ left: BSONDecimal128, _ right: BSONDecimal128) -> BSONDecimal128 {
        BSONDecimal128(left.doubleValue / right.doubleValue)
    }
}

extension StoreError {
    /// Makes an error with one of the server's numbers that have no name.
    static func located(_ number: Int32, _ message: String) -> StoreError {
        StoreError(Code(rawValue: number), message)
    }
}
