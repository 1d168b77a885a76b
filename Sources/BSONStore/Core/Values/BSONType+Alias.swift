extension BSONType {
    /// The types by their aliases.
    package static let byAlias = Dictionary(uniqueKeysWithValues: allCases.map { ($0.alias, $0) })

    /// MongoDB's name of the type, used in `$type` and in errors.
    ///
    /// Source: MongoDB manual, "BSON Types".
    package var alias: String {
        switch self {
        case .double: "double"
        case .string: "string"
        case .document: "object"
        case .array: "array"
        case .binary: "binData"
        case .undefined: "undefined"
        case .objectID: "objectId"
        case .bool: "bool"
        case .datetime: "date"
        case .null: "null"
        case .regularExpression: "regex"
        case .dbPointer: "dbPointer"
        case .javascript: "javascript"
        case .symbol: "symbol"
        case .javascriptWithScope: "javascriptWithScope"
        case .int32: "int"
        case .timestamp: "timestamp"
        case .int64: "long"
        case .decimal128: "decimal"
        case .minKey: "minKey"
        case .maxKey: "maxKey"
        }
    }
}
