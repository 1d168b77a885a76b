extension BSONValue: CustomStringConvertible, CustomDebugStringConvertible {
    /// The value as relaxed Extended JSON: `1`, `"pen"`, `{"$oid":"64b0…"}`.
    ///
    /// It hides whether a number is an int32 or an int64; ``debugDescription`` tells.
    public var description: String { extendedJSON(.relaxed) }

    /// The case and the value as relaxed Extended JSON: `int32(1)`, `string("pen")`, `null`.
    public var debugDescription: String {
        switch self {
        case .undefined, .null, .minKey, .maxKey: caseName
        case .double, .string, .document, .array, .binary, .objectID, .bool, .datetime,
            .regularExpression, .dbPointer, .javascript, .symbol, .javascriptWithScope, .int32,
            .timestamp, .int64, .decimal128:
            "\(caseName)(\(description))"
        }
    }

    private var caseName: String {
        switch self {
        case .double: "double"
        case .string: "string"
        case .document: "document"
        case .array: "array"
        case .binary: "binary"
        case .undefined: "undefined"
        case .objectID: "objectID"
        case .bool: "bool"
        case .datetime: "datetime"
        case .null: "null"
        case .regularExpression: "regularExpression"
        case .dbPointer: "dbPointer"
        case .javascript: "javascript"
        case .symbol: "symbol"
        case .javascriptWithScope: "javascriptWithScope"
        case .int32: "int32"
        case .timestamp: "timestamp"
        case .int64: "int64"
        case .decimal128: "decimal128"
        case .minKey: "minKey"
        case .maxKey: "maxKey"
        }
    }
}

extension BSONArray: CustomStringConvertible {
    /// The array as relaxed Extended JSON.
    public var description: String { extendedJSON(.relaxed) }
}

extension BSONBinary: CustomStringConvertible {
    /// The binary as relaxed Extended JSON, with its bytes as base64.
    public var description: String { BSONValue.binary(self).description }
}

extension BSONDatetime: CustomStringConvertible {
    /// The moment as RFC 3339 text in UTC, or as a number of milliseconds outside of the years 0 to
    /// 9999.
    public var description: String {
        ExtendedJSONDate.text(milliseconds) ?? "\(milliseconds) ms since 1970"
    }
}

extension BSONTimestamp: CustomStringConvertible {
    /// The seconds since 1970 and the counter: `Timestamp(1700000000, 1)`.
    public var description: String { "Timestamp(\(seconds), \(increment))" }
}

extension BSONRegularExpression: CustomStringConvertible {
    /// The pattern between slashes, then the options: `/^pen/i`.
    public var description: String { "/\(pattern)/\(options)" }
}

extension BSONDBPointer: CustomStringConvertible {
    /// The pointer as relaxed Extended JSON.
    public var description: String { BSONValue.dbPointer(self).description }
}

extension BSONJavaScriptWithScope: CustomStringConvertible {
    /// The code and its variables as relaxed Extended JSON.
    public var description: String { BSONValue.javascriptWithScope(self).description }
}
