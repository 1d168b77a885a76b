internal import BSONCore

/// A value of a filter or update, encoded when the encoder of the collection is known.
struct TypedValue: Sendable {
    /// Encodes the value as a field of a document would be.
    let encode: @Sendable (BSONEncoder) throws -> BSONValue

    init(_ value: some Encodable & Sendable) { encode = { try $0.encodeValue(value) } }
}
