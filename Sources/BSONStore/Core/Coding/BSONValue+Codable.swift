extension BSONValue: Codable {
    /// Writes the value as itself with `BSONEncoder`, and as Extended JSON with any other encoder.
    ///
    /// Numbers, strings, booleans, null, documents and arrays are plain if reading them yields the
    /// same type again. Otherwise they are wrapped: `{"$numberLong": "1"}`, `{"$oid": "…"}`.
    public func encode(to encoder: any Encoder) throws {
        if encoder is BSONEncodingNode {
            var container = encoder.singleValueContainer()
            return try container.encode(self)
        }
        try ExtendedJSONCoding.encode(self, to: encoder)
    }

    /// Reads the value itself with `BSONDecoder`, and Extended JSON with any other decoder.
    ///
    /// The decoder determines the order of a document's keys; `JSONDecoder` does not preserve it.
    public init(from decoder: any Decoder) throws {
        if let node = decoder as? BSONDecodingNode {
            self = try node.decode(BSONValue.self)
        } else {
            self = try ExtendedJSONCoding.decode(from: decoder)
        }
    }
}

/// A type that is coded as a BSON value.
///
/// `BSONEncoder` and `BSONDecoder` keep these types as they are; other coders see Extended JSON.
public protocol BSONValueCodable: Codable {
    /// The value with its type.
    var bsonValue: BSONValue { get }
    // The label keeps `BSONDecimal128("1.5")` from being read as a conversion of a string value.
    /// Extracts the content of a value; `nil` if the value has another type.
    init?(bson value: BSONValue)
}

extension BSONValueCodable {
    /// Encodes ``bsonValue``.
    public func encode(to encoder: any Encoder) throws { try bsonValue.encode(to: encoder) }

    /// Decodes a value and extracts its content.
    public init(from decoder: any Decoder) throws {
        guard let content = Self(bson: try BSONValue(from: decoder)) else {
            throw DecodingError.typeMismatch(
                Self.self,
                DecodingError.Context(
                    codingPath: decoder.codingPath,
                    debugDescription: "The value is of another BSON type."))
        }
        self = content
    }
}

extension BSONDocument: BSONValueCodable {
    /// The document as a value.
    public var bsonValue: BSONValue { .document(self) }
    /// Extracts a document from a value.
    public init?(bson value: BSONValue) {
        guard case .document(let content) = value else { return nil }
        self = content
    }
}

extension BSONArray: BSONValueCodable {
    /// The array as a value.
    public var bsonValue: BSONValue { .array(self) }
    /// Extracts an array from a value.
    public init?(bson value: BSONValue) {
        guard case .array(let content) = value else { return nil }
        self = content
    }
}

extension BSONBinary: BSONValueCodable {
    /// The binary as a value.
    public var bsonValue: BSONValue { .binary(self) }
    /// Extracts a binary from a value.
    public init?(bson value: BSONValue) {
        guard case .binary(let content) = value else { return nil }
        self = content
    }
}

extension BSONObjectID: BSONValueCodable {
    /// The id as a value.
    public var bsonValue: BSONValue { .objectID(self) }
    /// Extracts an id from a value.
    public init?(bson value: BSONValue) {
        guard case .objectID(let content) = value else { return nil }
        self = content
    }
}

extension BSONDatetime: BSONValueCodable {
    /// The datetime as a value.
    public var bsonValue: BSONValue { .datetime(self) }
    /// Extracts a datetime from a value.
    public init?(bson value: BSONValue) {
        guard case .datetime(let content) = value else { return nil }
        self = content
    }
}

extension BSONRegularExpression: BSONValueCodable {
    /// The expression as a value.
    public var bsonValue: BSONValue { .regularExpression(self) }
    /// Extracts an expression from a value.
    public init?(bson value: BSONValue) {
        guard case .regularExpression(let content) = value else { return nil }
        self = content
    }
}

extension BSONDBPointer: BSONValueCodable {
    /// The pointer as a value.
    public var bsonValue: BSONValue { .dbPointer(self) }
    /// Extracts a pointer from a value.
    public init?(bson value: BSONValue) {
        guard case .dbPointer(let content) = value else { return nil }
        self = content
    }
}

extension BSONJavaScriptWithScope: BSONValueCodable {
    /// The code as a value.
    public var bsonValue: BSONValue { .javascriptWithScope(self) }
    /// Extracts code with scope from a value.
    public init?(bson value: BSONValue) {
        guard case .javascriptWithScope(let content) = value else { return nil }
        self = content
    }
}

extension BSONTimestamp: BSONValueCodable {
    /// The timestamp as a value.
    public var bsonValue: BSONValue { .timestamp(self) }
    /// Extracts a timestamp from a value.
    public init?(bson value: BSONValue) {
        guard case .timestamp(let content) = value else { return nil }
        self = content
    }
}

extension BSONDecimal128: BSONValueCodable {
    /// The decimal as a value.
    public var bsonValue: BSONValue { .decimal128(self) }
    /// Extracts a decimal from a value.
    public init?(bson value: BSONValue) {
        guard case .decimal128(let content) = value else { return nil }
        self = content
    }
}
