/// A value of any BSON type.
///
/// `==` compares the representation: `int32(1)` differs from `int64(1)`, `-0.0` from `0.0`, and a
/// NaN equals the same NaN. MongoDB's comparison order, in which `1`, `1.0` and `NumberLong(1)` are
/// equal, is `BSONOrder`.
///
/// Literals make values of JSON's types, static functions those of Swift's other types. Each stores
/// its argument as ``BSONEncoder`` does, so that a filter finds what a `Codable` type wrote:
///
/// ```swift
/// let todo: BSONDocument = ["_id": .uuid(id), "task": "Buy milk", "due": .date(tomorrow)]
/// let overdue: BSONDocument = ["due": ["$lt": .date(now)], "state": .enum(State.open)]
/// ```
public enum BSONValue: Sendable {
    case double(Double)
    case string(String)
    case document(BSONDocument)
    case array(BSONArray)
    case binary(BSONBinary)
    case undefined
    case objectID(BSONObjectID)
    case bool(Bool)
    case datetime(BSONDatetime)
    case null
    indirect case regularExpression(BSONRegularExpression)
    indirect case dbPointer(BSONDBPointer)
    case javascript(String)
    case symbol(String)
    indirect case javascriptWithScope(BSONJavaScriptWithScope)
    case int32(Int32)
    case timestamp(BSONTimestamp)
    case int64(Int64)
    case decimal128(BSONDecimal128)
    case minKey
    case maxKey

    /// The type's byte on the wire.
    public var type: BSONType {
        switch self {
        case .double: .double
        case .string: .string
        case .document: .document
        case .array: .array
        case .binary: .binary
        case .undefined: .undefined
        case .objectID: .objectID
        case .bool: .bool
        case .datetime: .datetime
        case .null: .null
        case .regularExpression: .regularExpression
        case .dbPointer: .dbPointer
        case .javascript: .javascript
        case .symbol: .symbol
        case .javascriptWithScope: .javascriptWithScope
        case .int32: .int32
        case .timestamp: .timestamp
        case .int64: .int64
        case .decimal128: .decimal128
        case .minKey: .minKey
        case .maxKey: .maxKey
        }
    }
}

extension BSONValue: Hashable {
    /// Whether type and encoded bytes are equal.
    public static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.double(let a), .double(let b)): a.bitPattern == b.bitPattern
        case (.string(let a), .string(let b)): a.utf8.elementsEqual(b.utf8)
        case (.document(let a), .document(let b)): a == b
        case (.array(let a), .array(let b)): a == b
        case (.binary(let a), .binary(let b)): a == b
        case (.objectID(let a), .objectID(let b)): a == b
        case (.bool(let a), .bool(let b)): a == b
        case (.datetime(let a), .datetime(let b)): a == b
        case (.regularExpression(let a), .regularExpression(let b)): a == b
        case (.dbPointer(let a), .dbPointer(let b)): a == b
        case (.javascript(let a), .javascript(let b)): a.utf8.elementsEqual(b.utf8)
        case (.symbol(let a), .symbol(let b)): a.utf8.elementsEqual(b.utf8)
        case (.javascriptWithScope(let a), .javascriptWithScope(let b)): a == b
        case (.int32(let a), .int32(let b)): a == b
        case (.timestamp(let a), .timestamp(let b)): a == b
        case (.int64(let a), .int64(let b)): a == b
        case (.decimal128(let a), .decimal128(let b)): a == b
        default: left.type == right.type && left.hasNoPayload
        }
    }

    /// Hashes the parts that ``==(_:_:)`` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(type.rawValue)
        switch self {
        case .double(let value): hasher.combine(value.bitPattern)
        case .string(let value), .javascript(let value), .symbol(let value):
            value.withUTF8Bytes { hasher.combine(bytes: $0) }
        case .document(let value): hasher.combine(value)
        case .array(let value): hasher.combine(value)
        case .binary(let value): hasher.combine(value)
        case .undefined, .null, .minKey, .maxKey: break
        case .objectID(let value): hasher.combine(value)
        case .bool(let value): hasher.combine(value)
        case .datetime(let value): hasher.combine(value)
        case .regularExpression(let value): hasher.combine(value)
        case .dbPointer(let value): hasher.combine(value)
        case .javascriptWithScope(let value): hasher.combine(value)
        case .int32(let value): hasher.combine(value)
        case .timestamp(let value): hasher.combine(value)
        case .int64(let value): hasher.combine(value)
        case .decimal128(let value): hasher.combine(value)
        }
    }

    private var hasNoPayload: Bool {
        switch type {
        case .undefined, .null, .minKey, .maxKey: true
        default: false
        }
    }
}

extension BSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByNilLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Creates a string.
    public init(stringLiteral value: String) { self = .string(value) }

    /// Creates an int32 if the number fits, else an int64, as MongoDB's drivers do.
    public init(integerLiteral value: Int64) {
        self = Int32(exactly: value).map { .int32($0) } ?? .int64(value)
    }

    /// Creates a double.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// Creates a boolean.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates a null.
    public init(nilLiteral: ()) { self = .null }
    /// Creates an array.
    public init(arrayLiteral elements: BSONValue...) { self = .array(BSONArray(elements)) }

    /// Creates a document with the given keys; a key with a NUL traps.
    public init(dictionaryLiteral elements: (String, BSONValue)...) {
        self = .document(BSONDocument(elements))
    }
}

extension BSONValue {
    /// Whether both are the same value of the same type; field order is ignored at all depths.
    public func contentEquals(_ other: BSONValue) -> Bool {
        switch (self, other) {
        case (.document(let a), .document(let b)): a.contentEquals(b)
        case (.array(let a), .array(let b)): a.contentEquals(b)
        case (.javascriptWithScope(let a), .javascriptWithScope(let b)):
            a.code.utf8.elementsEqual(b.code.utf8) && a.scope.contentEquals(b.scope)
        default: self == other
        }
    }

    /// Returns the same value with hardly more memory than its own bytes.
    package func compacted() -> BSONValue {
        switch self {
        case .document(let document): return .document(document.compacted())
        case .array(let array): return .array(BSONArray(document: array.document.compacted()))
        case .javascriptWithScope(let code):
            return .javascriptWithScope(
                BSONJavaScriptWithScope(code: code.code, scope: code.scope.compacted()))
        default: return self
        }
    }
}
