/// A maker of decoding errors, with the coding path.
enum BSONDecodingError {
    static func mismatch(
        _ type: any Any.Type, _ raw: BSONRawValue, _ node: BSONDecodingNode,
        _ key: (any CodingKey)? = nil
    ) -> DecodingError {
        if raw.typeByte == BSONType.null.rawValue || raw.typeByte == BSONType.undefined.rawValue {
            return .valueNotFound(type, context(node, key, "Here is \(raw.type)."))
        }
        return .typeMismatch(type, context(node, key, "Here is a value of type \(raw.type)."))
    }

    /// Returns the error for a value that a type cannot hold: a loss for numbers, else a wrong
    /// type.
    static func refused(
        _ type: any Any.Type, _ raw: BSONRawValue, _ node: BSONDecodingNode,
        _ key: (any CodingKey)?
    ) -> DecodingError {
        switch raw.type {
        case .double, .int32, .int64, .decimal128:
            type == Bool.self || type == String.self
                ? mismatch(type, raw, node, key) : lossy(type, raw, node, key)
        case .string, .document, .array, .binary, .undefined, .objectID, .bool, .datetime, .null,
            .regularExpression, .dbPointer, .javascript, .symbol, .javascriptWithScope,
            .timestamp, .minKey, .maxKey:
            mismatch(type, raw, node, key)
        }
    }

    static func lossy(
        _ type: any Any.Type, _ raw: BSONRawValue, _ node: BSONDecodingNode,
        _ key: (any CodingKey)?
    ) -> DecodingError {
        let value = BSONValue(copying: raw).extendedJSON(.relaxed)
        return .dataCorrupted(context(node, key, "\(type) cannot hold \(value) without loss."))
    }

    static func corrupted(
        _ message: String, _ node: BSONDecodingNode, _ key: (any CodingKey)?
    ) -> DecodingError { .dataCorrupted(context(node, key, message)) }

    static func missing(_ node: BSONDecodingNode, _ key: any CodingKey) -> DecodingError {
        .keyNotFound(
            key, context(node, nil, "The document has no key \"\(key.stringValue)\"."))
    }

    private static func context(
        _ node: BSONDecodingNode, _ key: (any CodingKey)?, _ message: String
    ) -> DecodingError.Context {
        DecodingError.Context(
            codingPath: node.codingPath + (key.map { [$0] } ?? []), debugDescription: message)
    }
}
