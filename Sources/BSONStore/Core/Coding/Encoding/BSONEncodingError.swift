#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A maker of encoding errors, with the coding path.
enum BSONEncodingError {
    static func make(
        _ value: Any, _ node: BSONEncodingNode, _ key: (any CodingKey)?, _ message: String
    ) -> EncodingError {
        EncodingError.invalidValue(
            value,
            EncodingError.Context(
                codingPath: node.codingPath + (key.map { [$0] } ?? []),
                debugDescription: message))
    }

    static func nullInKey(_ node: BSONEncodingNode, _ key: any CodingKey) -> EncodingError {
        make(key.stringValue, node, key, "A key cannot hold NUL.")
    }

    static func tooLarge(
        _ value: Any, _ node: BSONEncodingNode, _ key: (any CodingKey)?
    ) -> EncodingError { make(value, node, key, "BSON cannot hold \(value) in this form.") }

    static func tooDeep(
        _ value: Any, _ node: BSONEncodingNode, _ key: any CodingKey
    ) -> EncodingError {
        make(value, node, key, "Nested deeper than \(BSONLimits().depthMax) levels.")
    }
}
