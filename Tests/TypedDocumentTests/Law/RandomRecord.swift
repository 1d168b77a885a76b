import BSONStore
import Foundation

/// A type of documents that is made at run time, as an app would declare it.
struct RecordType: Sendable {
    struct Member: Sendable {
        let name: String
        let kind: Kind
        /// Whether the property is optional.
        var isOptional = false
        /// The value of the property where a document lacks the field.
        var fallback: RecordValue?
    }

    indirect enum Kind: Sendable {
        case bool, int, int8, int32, unsigned, double, float, string, date, uuid, data, url
        case decimal, decimal128, objectID, value, document
        case strings, integers, stringSet, decimalSet, uuidCounts, counts
        case record(RecordType), records(RecordType), recordSet(RecordType), recordsByName(
            RecordType)
    }

    var members: [Member]
    /// The field by which elements of arrays are told apart, in addition to `_id` and `id`.
    var elementKey: String?
}

/// The value of a property.
indirect enum RecordValue: Sendable, Hashable {
    case bool(Bool), int(Int), int8(Int8), int32(Int32), unsigned(UInt32)
    case double(Double), float(Float), string(String), date(Date), uuid(UUID), data(Data), url(URL)
    case decimal(Decimal), decimal128(BSONDecimal128), objectID(BSONObjectID)
    case value(BSONValue), document(BSONDocument)
    case strings([String]), integers([Int]), stringSet(Set<String>), decimalSet(Set<Decimal>)
    case uuidCounts([UUID: Int]), counts([String: Int])
    case record(Record), records([Record]), recordSet(Set<Record>), recordsByName([String: Record])
}

/// A value of a type that is made at run time.
struct Record: Codable, Sendable, Hashable {
    var type: RecordTypeReference
    /// The properties that are not `nil`, by their names.
    var values: [String: RecordValue]

    struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(_ text: String) { stringValue = text }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(_ type: RecordType, _ values: [String: RecordValue]) {
        self.type = RecordTypeReference(type: type)
        self.values = values
    }

    init(from decoder: any Decoder) throws {
        guard let types = decoder.userInfo[.recordTypes] as? RecordTypes else {
            throw DecodingError.valueNotFound(
                RecordTypes.self, .init(codingPath: [], debugDescription: "no types"))
        }
        let type = types.current
        let container = try decoder.container(keyedBy: Key.self)
        self.init(type, [:])
        for member in type.members {
            let key = Key(member.name)
            // As generated code does: null counts as missing.
            guard container.contains(key), try !container.decodeNil(forKey: key) else {
                guard member.isOptional || member.fallback != nil else {
                    throw DecodingError.keyNotFound(
                        key, .init(codingPath: decoder.codingPath, debugDescription: "missing"))
                }
                values[member.name] = member.fallback
                continue
            }
            values[member.name] = try member.kind.decode(container, key, types)
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        for member in type.type.members {
            let key = Key(member.name)
            guard let value = values[member.name] else {
                try container.encodeIfPresent(Bool?.none, forKey: key)
                continue
            }
            try value.encode(to: &container, key)
        }
    }
}

/// A reference to a type, which does not count when records are compared.
struct RecordTypeReference: Sendable, Hashable {
    let type: RecordType

    static func == (left: Self, right: Self) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
}

/// The types of the records that are being decoded; the innermost is the last.
final class RecordTypes: Sendable {
    private let stack = Locked<[RecordType]>([])

    var current: RecordType { stack.withLock { $0[$0.count - 1] } }

    func with<R>(_ type: RecordType, _ body: () throws -> R) rethrows -> R {
        stack.withLock { $0.append(type) }
        defer { stack.withLock { _ = $0.removeLast() } }
        return try body()
    }
}

extension CodingUserInfoKey {
    static let recordTypes: CodingUserInfoKey = {
        guard let key = CodingUserInfoKey(rawValue: "recordTypes") else {
            preconditionFailure("Every text is a key.")
        }
        return key
    }()
}

extension RecordType.Kind {
    /// Whether equal values have equal encodings in whatever form they are stored, except for the
    /// types of numbers and the order of sets.
    var hasOneForm: Bool {
        switch self {
        case .data, .url, .record, .records, .recordSet, .recordsByName: false
        case .bool, .int, .int8, .int32, .unsigned, .double, .float, .string, .date, .uuid,
            .decimal, .decimal128, .objectID, .value, .document, .strings, .integers, .stringSet,
            .decimalSet, .uuidCounts, .counts:
            true
        }
    }

    fileprivate func decode(
        _ container: KeyedDecodingContainer<Record.Key>, _ key: Record.Key, _ types: RecordTypes
    ) throws -> RecordValue {
        switch self {
        case .bool: .bool(try container.decode(Bool.self, forKey: key))
        case .int: .int(try container.decode(Int.self, forKey: key))
        case .int8: .int8(try container.decode(Int8.self, forKey: key))
        case .int32: .int32(try container.decode(Int32.self, forKey: key))
        case .unsigned: .unsigned(try container.decode(UInt32.self, forKey: key))
        case .double: .double(try container.decode(Double.self, forKey: key))
        case .float: .float(try container.decode(Float.self, forKey: key))
        case .string: .string(try container.decode(String.self, forKey: key))
        case .date: .date(try container.decode(Date.self, forKey: key))
        case .uuid: .uuid(try container.decode(UUID.self, forKey: key))
        case .data: .data(try container.decode(Data.self, forKey: key))
        case .url: .url(try container.decode(URL.self, forKey: key))
        case .decimal: .decimal(try container.decode(Decimal.self, forKey: key))
        case .decimal128: .decimal128(try container.decode(BSONDecimal128.self, forKey: key))
        case .objectID: .objectID(try container.decode(BSONObjectID.self, forKey: key))
        case .value: .value(try container.decode(BSONValue.self, forKey: key))
        case .document: .document(try container.decode(BSONDocument.self, forKey: key))
        case .strings: .strings(try container.decode([String].self, forKey: key))
        case .integers: .integers(try container.decode([Int].self, forKey: key))
        case .stringSet: .stringSet(try container.decode(Set<String>.self, forKey: key))
        case .decimalSet: .decimalSet(try container.decode(Set<Decimal>.self, forKey: key))
        case .uuidCounts: .uuidCounts(try container.decode([UUID: Int].self, forKey: key))
        case .counts: .counts(try container.decode([String: Int].self, forKey: key))
        case .record(let type):
            .record(try types.with(type) { try container.decode(Record.self, forKey: key) })
        case .records(let type):
            .records(try types.with(type) { try container.decode([Record].self, forKey: key) })
        case .recordSet(let type):
            .recordSet(try types.with(type) { try container.decode(Set<Record>.self, forKey: key) })
        case .recordsByName(let type):
            .recordsByName(
                try types.with(type) { try container.decode([String: Record].self, forKey: key) })
        }
    }
}

extension RecordValue {
    fileprivate func encode(
        to container: inout KeyedEncodingContainer<Record.Key>, _ key: Record.Key
    ) throws {
        switch self {
        case .bool(let value): try container.encode(value, forKey: key)
        case .int(let value): try container.encode(value, forKey: key)
        case .int8(let value): try container.encode(value, forKey: key)
        case .int32(let value): try container.encode(value, forKey: key)
        case .unsigned(let value): try container.encode(value, forKey: key)
        case .double(let value): try container.encode(value, forKey: key)
        case .float(let value): try container.encode(value, forKey: key)
        case .string(let value): try container.encode(value, forKey: key)
        case .date(let value): try container.encode(value, forKey: key)
        case .uuid(let value): try container.encode(value, forKey: key)
        case .data(let value): try container.encode(value, forKey: key)
        case .url(let value): try container.encode(value, forKey: key)
        case .decimal(let value): try container.encode(value, forKey: key)
        case .decimal128(let value): try container.encode(value, forKey: key)
        case .objectID(let value): try container.encode(value, forKey: key)
        case .value(let value): try container.encode(value, forKey: key)
        case .document(let value): try container.encode(value, forKey: key)
        case .strings(let value): try container.encode(value, forKey: key)
        case .integers(let value): try container.encode(value, forKey: key)
        case .stringSet(let value): try container.encode(value, forKey: key)
        case .decimalSet(let value): try container.encode(value, forKey: key)
        case .uuidCounts(let value): try container.encode(value, forKey: key)
        case .counts(let value): try container.encode(value, forKey: key)
        case .record(let value): try container.encode(value, forKey: key)
        case .records(let value): try container.encode(value, forKey: key)
        case .recordSet(let value): try container.encode(value, forKey: key)
        case .recordsByName(let value): try container.encode(value, forKey: key)
        }
    }
}
