extension BSONValue: Codable {
    /// Writes the value as itself with `BSONEncoder`, and as Extended JSON with any other encoder.
    ///
    /// Numbers, strings, booleans, null, documents and arrays are plain where reading gives the
    /// same type again, else they are wrapped: `{"$numberLong": "1"}`, `{"$oid": "…"}`.
    public func encode(to encoder: any Encoder) throws {
        if encoder is BSONEncodingNode {
            var container = encoder.singleValueContainer()
            return try container.encode(self)
        }
        try ExtendedJSONCoding.encode(self, to: encoder)
    }

    /// Reads the value itself with `BSONDecoder`, and Extended JSON with any other decoder.
    ///
    /// The order of a document's keys is the decoder's; `JSONDecoder` does not keep it.
    public init(from decoder: any Decoder) throws {
        if let node = decoder as? BSONDecodingNode {
            self = try node.decode(BSONValue.self)
        } else {
            self = try ExtendedJSONCoding.decode(from: decoder)
        }
    }
}

/// Gives a type the coding of the BSON value that it is the content of.
///
/// `BSONEncoder` and `BSONDecoder` treat these types as themselves; other coders see Extended JSON.
public protocol BSONValueCodable: Codable {
    /// The value with its type.
    var bsonValue: BSONValue { get }
    /// Takes the content out of a value; `nil` when it is of another type.
    init?(_ value: BSONValue)
}

extension BSONValueCodable {
    /// Writes what ``bsonValue`` writes.
    public func encode(to encoder: any Encoder) throws { try bsonValue.encode(to: encoder) }

    /// Reads a value and takes the content out of it.
    public init(from decoder: any Decoder) throws {
        guard let content = Self(try BSONValue(from: decoder)) else {
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
    /// Takes a document out of a value.
    public init?(_ value: BSONValue) {
        guard case .document(let content) = value else { return nil }
        self = content
    }
}

extension BSONArray: BSONValueCodable {
    /// The array as a value.
    public var bsonValue: BSONValue { .array(self) }
    /// Takes an array out of a value.
    public init?(_ value: BSONValue) {
        guard case .array(let content) = value else { return nil }
        self = content
    }
}

extension BSONBinary: BSONValueCodable {
    /// The binary as a value.
    public var bsonValue: BSONValue { .binary(self) }
    /// Takes a binary out of a value.
    public init?(_ value: BSONValue) {
        guard case .binary(let content) = value else { return nil }
        self = content
    }
}

extension BSONObjectID: BSONValueCodable {
    /// The id as a value.
    public var bsonValue: BSONValue { .objectID(self) }
    /// Takes an id out of a value.
    public init?(_ value: BSONValue) {
        guard case .objectID(let content) = value else { return nil }
        self = content
    }
}

extension BSONDatetime: BSONValueCodable {
    /// The datetime as a value.
    public var bsonValue: BSONValue { .datetime(self) }
    /// Takes a datetime out of a value.
    public init?(_ value: BSONValue) {
        guard case .datetime(let content) = value else { return nil }
        self = content
    }
}

extension BSONRegularExpression: BSONValueCodable {
    /// The expression as a value.
    public var bsonValue: BSONValue { .regularExpression(self) }
    /// Takes an expression out of a value.
    public init?(_ value: BSONValue) {
        guard case .regularExpression(let content) = value else { return nil }
        self = content
    }
}

extension BSONDBPointer: BSONValueCodable {
    /// The pointer as a value.
    public var bsonValue: BSONValue { .dbPointer(self) }
    /// Takes a pointer out of a value.
    public init?(_ value: BSONValue) {
        guard case .dbPointer(let content) = value else { return nil }
        self = content
    }
}

extension BSONJavaScriptWithScope: BSONValueCodable {
    /// The code as a value.
    public var bsonValue: BSONValue { .javascriptWithScope(self) }
    /// Takes code with scope out of a value.
    public init?(_ value: BSONValue) {
        guard case .javascriptWithScope(let content) = value else { return nil }
        self = content
    }
}

extension BSONTimestamp: BSONValueCodable {
    /// The timestamp as a value.
    public var bsonValue: BSONValue { .timestamp(self) }
    /// Takes a timestamp out of a value.
    public init?(_ value: BSONValue) {
        guard case .timestamp(let content) = value else { return nil }
        self = content
    }
}

extension BSONDecimal128: BSONValueCodable {
    /// The decimal as a value.
    public var bsonValue: BSONValue { .decimal128(self) }
    /// Takes a decimal out of a value.
    public init?(_ value: BSONValue) {
        guard case .decimal128(let content) = value else { return nil }
        self = content
    }
}
