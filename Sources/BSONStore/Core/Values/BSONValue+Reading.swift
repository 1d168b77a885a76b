/// The content of a value, if it has the named type. Only whole numbers, ``int64Value``,
/// ``intValue``, ``int32Value`` and ``doubleValue`` convert, and only where nothing is lost.
extension BSONValue {
    /// The double, or the whole number of an int32 or int64 that a double holds exactly.
    ///
    /// A decimal128 is not converted; see ``decimal128Value``.
    public var doubleValue: Double? {
        switch self {
        case .double(let value): value
        case .int32(let value): Double(value)
        case .int64(let value): Double(exactly: value)
        default: nil
        }
    }
    /// The text, if the value is a string.
    public var stringValue: String? {
        if case .string(let value) = self { value } else { nil }
    }
    /// The document, if the value is one.
    public var documentValue: BSONDocument? {
        if case .document(let value) = self { value } else { nil }
    }
    /// The array, if the value is one.
    public var arrayValue: BSONArray? {
        if case .array(let value) = self { value } else { nil }
    }
    /// The bytes with their subtype, if the value is a binary.
    public var binaryValue: BSONBinary? {
        if case .binary(let value) = self { value } else { nil }
    }
    /// The id, if the value is an ObjectId.
    public var objectIDValue: BSONObjectID? {
        if case .objectID(let value) = self { value } else { nil }
    }
    /// The boolean, if the value is one.
    public var boolValue: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }
    /// The moment in milliseconds, if the value is a datetime.
    public var datetimeValue: BSONDatetime? {
        if case .datetime(let value) = self { value } else { nil }
    }
    /// Whether the value is null.
    ///
    /// ```swift
    /// let isUnset = document["due"]?.isNull ?? true  // null or missing
    /// ```
    public var isNull: Bool {
        if case .null = self { true } else { false }
    }
    /// The pattern with its options, if the value is a regular expression.
    public var regularExpressionValue: BSONRegularExpression? {
        if case .regularExpression(let value) = self { value } else { nil }
    }
    /// The namespace and the id, if the value is a DBPointer.
    public var dbPointerValue: BSONDBPointer? {
        if case .dbPointer(let value) = self { value } else { nil }
    }
    /// The code, if the value is JavaScript without variables.
    public var javascriptValue: String? {
        if case .javascript(let value) = self { value } else { nil }
    }
    /// The text, if the value is a symbol.
    public var symbolValue: String? {
        if case .symbol(let value) = self { value } else { nil }
    }
    /// The code and its variables, if the value is JavaScript with variables.
    public var javascriptWithScopeValue: BSONJavaScriptWithScope? {
        if case .javascriptWithScope(let value) = self { value } else { nil }
    }
    /// The whole number of an int32, an int64 or an integral double, if an `Int32` can hold it.
    public var int32Value: Int32? { int64Value.flatMap { Int32(exactly: $0) } }
    /// The whole number of an int32, an int64 or an integral double, if an `Int` can hold it.
    public var intValue: Int? { int64Value.flatMap { Int(exactly: $0) } }
    /// The position in the operation order, if the value is a timestamp.
    public var timestampValue: BSONTimestamp? {
        if case .timestamp(let value) = self { value } else { nil }
    }
    /// The whole number of an int32, an int64 or an integral double, without loss.
    ///
    /// A decimal128 is not converted; see ``BSONDecimal128/int64Value``.
    public var int64Value: Int64? {
        switch self {
        case .double(let value): Int64(exactly: value)
        case .int32(let value): Int64(value)
        case .int64(let value): value
        default: nil
        }
    }
    /// The number, if the value is a decimal128; other numbers are not converted.
    public var decimal128Value: BSONDecimal128? {
        if case .decimal128(let value) = self { value } else { nil }
    }
    /// Whether MongoDB reads the value as true.
    package var isTrue: Bool {
        switch self {
        case .bool(let value): value
        case .int32(let value): value != 0
        case .int64(let value): value != 0
        case .double(let value): value != 0
        case .decimal128(let value): value.kind != .finite || value.coefficient != 0
        case .null, .undefined: false
        default: true
        }
    }
}
