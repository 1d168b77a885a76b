/// A decoder that turns documents into `Decodable` values.
///
/// Numbers convert between all widths if nothing is lost; otherwise the decoder throws an error
/// with the coding path. Null and undefined decode as absent optionals. Keys that a type does not
/// request are ignored.
///
///     let todo = try BSONDecoder().decode(Todo.self, from: document)
public struct BSONDecoder: Sendable {
    /// The forms of dates, UUIDs, data and keys.
    public var strategies: BSONCodingStrategies
    /// The information that values find in `Decoder.userInfo`.
    public var userInfo: [CodingUserInfoKey: any Sendable]

    /// Creates a decoder; the default is BSON's own form of everything.
    public init(
        strategies: BSONCodingStrategies = BSONCodingStrategies(),
        userInfo: [CodingUserInfoKey: any Sendable] = [:]
    ) {
        self.strategies = strategies
        self.userInfo = userInfo
    }

    /// Decodes a value from a document.
    ///
    /// - Throws: `DecodingError` with the coding path when a key is missing, a type does not match
    ///   or a number would be changed; and whatever the type's own code throws.
    public func decode<T: Decodable>(_ type: T.Type, from document: BSONDocument) throws -> T {
        try document.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else {
                preconditionFailure("The document has no bytes.")
            }
            let value = BSONRawValue(
                typeByte: BSONType.document.rawValue, start: base, count: bytes.count)
            return try BSONDecodingContext.decode(
                type, from: value, in: document, at: base, with: self)
        }
    }

    /// Decodes a value from any BSON value.
    ///
    /// - Throws: As ``decode(_:from:)``.
    public func decodeValue<T: Decodable>(_ type: T.Type, from value: BSONValue) throws -> T {
        let carrier: BSONDocument = ["": value]
        return try carrier.withUnsafeBytes { bytes in
            var cursor = BSONCursor(bytes)
            guard let base = bytes.baseAddress else {
                preconditionFailure("The carrier has no bytes.")
            }
            guard let element = cursor.next() else {
                preconditionFailure("The carrier has no element.")
            }
            return try BSONDecodingContext.decode(
                type, from: element.value, in: carrier, at: base, with: self)
        }
    }

    /// Whether strategies and user info are the defaults.
    var isPlain: Bool {
        @inline(__always) get { strategies.isPlain && userInfo.isEmpty }
    }
}
