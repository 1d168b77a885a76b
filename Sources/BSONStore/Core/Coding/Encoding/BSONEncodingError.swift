#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A maker of encoding errors, with the coding path.
enum BSONEncodingError {
    static func make(
        _ message: String, _ value: Any, at node: BSONEncodingNode, key: (any CodingKey)?
    ) -> EncodingError {
        EncodingError.invalidValue(
            value,
            EncodingError.Context(
                codingPath: node.codingPath + (key.map { [$0] } ?? []),
                debugDescription: message))
    }

    static func nullInKey(_ key: any CodingKey, at node: BSONEncodingNode) -> EncodingError {
        make("A key cannot hold NUL.", key.stringValue, at: node, key: key)
    }

    static func tooLarge(
        _ value: Any, at node: BSONEncodingNode, key: (any CodingKey)?
    ) -> EncodingError {
        make("BSON cannot hold \(value) in this form.", value, at: node, key: key)
    }

    static func tooDeep(
        _ value: Any, at node: BSONEncodingNode, key: any CodingKey
    ) -> EncodingError {
        make(
            "Nested deeper than \(BSONLimits().depthMax) levels.", value, at: node, key: key)
    }
}
