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
        try encodeDocument(value, marksOmitted: false)
    }

    /// Encodes any value: a document, an array or a single value.
    ///
    /// - Throws: As ``encode(_:)``, except for values that do not become a document.
    public func encodeValue<T: Encodable>(_ value: T) throws -> BSONValue {
        try BSONEncodingStorage.encode(value, with: self, marksOmitted: false) { typeByte, bytes in
            guard let start = bytes.baseAddress else { return .null }
            return BSONValue(
                copying: BSONRawValue(typeByte: typeByte, start: start, count: bytes.count))
        }
    }

    /// Encodes a value over the document that it was decoded from, keeping the fields that its type
    /// does not know.
    ///
    /// Fields of the value replace those of `original` in place. Optionals that are `nil` are
    /// removed. Fields without a coding key stay, in nested documents too. A document in an array
    /// keeps its unknown fields if it has the same `_id` or if none of its known fields changed.
    /// Dictionaries are replaced as a whole. A number that is equal but of another width keeps its
    /// width.
    ///
    /// A type that omits fields without `encodeIfPresent` cannot remove them.
    ///
    /// - Throws: As ``encode(_:)``.
    public func encode<T: Encodable>(
        _ value: T, onto original: BSONDocument
    ) throws -> BSONDocument {
        BSONEncodingMerge.merge(try encodeDocument(value, marksOmitted: true), onto: original)
    }

    private func encodeDocument<T: Encodable>(
        _ value: T, marksOmitted: Bool
    ) throws -> BSONDocument {
        try BSONEncodingStorage.encode(value, with: self, marksOmitted: marksOmitted) {
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
