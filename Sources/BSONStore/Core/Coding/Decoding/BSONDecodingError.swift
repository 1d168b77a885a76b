/// A maker of decoding errors, with the coding path.
enum BSONDecodingError {
    static func mismatch(
        _ type: any Any.Type, _ raw: BSONRawValue, at node: BSONDecodingNode,
        key: (any CodingKey)? = nil
    ) -> DecodingError {
        if raw.typeByte == BSONType.null.rawValue || raw.typeByte == BSONType.undefined.rawValue {
            return .valueNotFound(type, context("Here is \(raw.type).", at: node, key: key))
        }
        return .typeMismatch(
            type, context("Here is a value of type \(raw.type).", at: node, key: key))
    }

    /// Returns the error for a value that a type cannot hold: a loss for numbers, else a wrong
    /// type.
    static func refused(
        _ type: any Any.Type, _ raw: BSONRawValue, at node: BSONDecodingNode,
        key: (any CodingKey)?
    ) -> DecodingError {
        switch raw.type {
        case .double, .int32, .int64, .decimal128:
            type == Bool.self || type == String.self
                ? mismatch(type, raw, at: node, key: key) : lossy(type, raw, at: node, key: key)
        case .string, .document, .array, .binary, .undefined, .objectID, .bool, .datetime, .null,
            .regularExpression, .dbPointer, .javascript, .symbol, .javascriptWithScope,
            .timestamp, .minKey, .maxKey:
            mismatch(type, raw, at: node, key: key)
        }
    }

    static func lossy(
        _ type: any Any.Type, _ raw: BSONRawValue, at node: BSONDecodingNode,
        key: (any CodingKey)?
    ) -> DecodingError {
        let value = BSONValue(copying: raw).extendedJSON(.relaxed)
        return .dataCorrupted(
            context("\(type) cannot hold \(value) without loss.", at: node, key: key))
    }

    static func corrupted(
        _ message: String, at node: BSONDecodingNode, key: (any CodingKey)?
    ) -> DecodingError { .dataCorrupted(context(message, at: node, key: key)) }

    static func missing(_ key: any CodingKey, at node: BSONDecodingNode) -> DecodingError {
        .keyNotFound(
            key, context("The document has no key \"\(key.stringValue)\".", at: node, key: nil))
    }

    private static func context(
        _ message: String, at node: BSONDecodingNode, key: (any CodingKey)?
    ) -> DecodingError.Context {
        DecodingError.Context(
            codingPath: node.codingPath + (key.map { [$0] } ?? []), debugDescription: message)
    }
}
