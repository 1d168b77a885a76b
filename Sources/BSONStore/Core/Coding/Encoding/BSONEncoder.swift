/// An encoder that turns `Encodable` values into documents.
///
/// `Int`, `Int64`, `UInt`, `UInt32` and `UInt64` become int64, smaller integers int32, `Float` and
/// `Double` double, `Date` a datetime, `UUID` and `Data` binaries, `Decimal` a decimal128, `URL` a
/// string; BSON's own types are written unchanged, at any depth.
///
///     let document = try BSONEncoder().encode(todo)
public struct BSONEncoder: Sendable {
    /// The forms of dates, UUIDs, data, keys and absent optionals.
    public var strategies: BSONCodingStrategies
    /// The information that values find in `Encoder.userInfo`.
    public var userInfo: [CodingUserInfoKey: any Sendable]

    /// Creates an encoder; the default is BSON's own form of everything.
    public init(
        strategies: BSONCodingStrategies = BSONCodingStrategies(),
        userInfo: [CodingUserInfoKey: any Sendable] = [:]
    ) {
        self.strategies = strategies
        self.userInfo = userInfo
    }

    /// Encodes a value that becomes a document: a struct, a class, a dictionary.
    ///
    /// - Throws: `EncodingError.invalidValue` with the coding path for a number that BSON cannot
    ///   hold, a key with NUL, nesting deeper than 100 levels, or a value that does not become a
    ///   document; and whatever the value's own code throws.
    public func encode<T: Encodable>(_ value: T) throws -> BSONDocument {
        try encodeDocument(value, isMarked: false)
    }

    /// Encodes any value: a document, an array or a single value.
    ///
    /// - Throws: As ``encode(_:)``, except for values that do not become a document.
    public func encodeValue<T: Encodable>(_ value: T) throws -> BSONValue {
        try BSONEncodingStorage.encode(value, with: self, isMarked: false) { typeByte, bytes in
            guard let start = bytes.baseAddress else { return .null }
            return BSONValue(
                copying: BSONRawValue(typeByte: typeByte, start: start, count: bytes.count))
        }
    }

    /// Encodes a value over the document that it was decoded from: only what the value changed is
    /// written.
    ///
    /// The document is decoded once more, and both values' encodings are compared. What is equal in
    /// both keeps its stored bytes: fields that the type does not know, nulls, missing fields with a
    /// default, the width of numbers, the order of sets. An optional that became `nil` is removed.
    /// Docs/SCHEMA.md, "Arrays of documents", says how elements of arrays are compared.
    ///
    /// If the document does not decode as the type, all fields of the value are written, and the
    /// fields that the type does not know stay.
    ///
    /// - Complexity: O(*n* log *n*) in the size of the document.
    /// - Throws: As ``encode(_:)``.
    public func encode<T: Encodable>(
        _ value: T, onto original: BSONDocument
    ) throws -> BSONDocument {
        let decoder = BSONDecoder(strategies: strategies, userInfo: userInfo)
        guard let type = T.self as? any Codable.Type else {
            return try encode(value, changing: [EncodedEdition(original)]) { EncodedEdition($0) }
        }
        return try encode(value, changing: [edition(decoding: original, as: type, by: decoder)]) {
            edition(decoding: $0, as: type, by: decoder)
        }
    }

    func encodeDocument<T: Encodable>(
        _ value: T, isMarked: Bool
    ) throws -> BSONDocument {
        try BSONEncodingStorage.encode(value, with: self, isMarked: isMarked) {
            typeByte, bytes in
            guard typeByte == BSONType.document.rawValue else {
                throw EncodingError.invalidValue(
                    value,
                    EncodingError.Context(
                        codingPath: [],
                        debugDescription: "The outermost value must encode as a document."))
            }
            return BSONDocument(unchecked: Array(bytes))
        }
    }

    /// Whether strategies and user info are the defaults.
    var isPlain: Bool {
        @inline(__always) get { strategies.isPlain && userInfo.isEmpty }
    }
}
