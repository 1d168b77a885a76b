#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The types that the coders write and read themselves, without calling the type's own code.
enum BSONNativeKind: Int, CaseIterable {
    case int, string, double, bool, int64, int32
    case date, uuid, data, url, decimal
    case value, document, array, objectID, decimal128, binary, datetime, timestamp
    case regularExpression, dbPointer, javascriptWithScope
    case int16, int8, uint, uint64, uint32, uint16, uint8, float
    case strings, ints, doubles, bools, int64s, int32s

    /// Whether the type is an array of primitives; these are the last cases.
    var isList: Bool { rawValue >= Self.strings.rawValue }

    /// Returns the kind of a type, or `nil` for all others.
    @inline(__always)
    static func of<T>(_ type: T.Type) -> BSONNativeKind? {
        let wanted = ObjectIdentifier(type)
        return table.withUnsafeBufferPointer { slots in
            var index = slot(wanted)
            while let found = slots[index] {
                if found.identifier == wanted { return found.kind }
                index = (index + 1) & (slots.count - 1)
            }
            return nil
        }
    }

    private struct Entry {
        let identifier: ObjectIdentifier
        let kind: BSONNativeKind
    }

    /// A hash table with mostly empty slots: a lookup of a type that is not in it usually needs one
    /// probe.
    private static let table: [Entry?] = {
        var slots = [Entry?](repeating: nil, count: 256)
        for kind in allCases {
            let identifier = kind.identifier
            var index = slot(identifier)
            while slots[index] != nil { index = (index + 1) & (slots.count - 1) }
            slots[index] = Entry(identifier: identifier, kind: kind)
        }
        return slots
    }()

    @inline(__always)
    private static func slot(_ identifier: ObjectIdentifier) -> Int {
        let address = UInt(bitPattern: identifier)
        return Int(truncatingIfNeeded: (address >> 3 ^ address >> 11) & 255)
    }

    private var identifier: ObjectIdentifier {
        switch self {
        case .int: ObjectIdentifier(Int.self)
        case .string: ObjectIdentifier(String.self)
        case .double: ObjectIdentifier(Double.self)
        case .bool: ObjectIdentifier(Bool.self)
        case .int64: ObjectIdentifier(Int64.self)
        case .int32: ObjectIdentifier(Int32.self)
        case .date: ObjectIdentifier(Date.self)
        case .uuid: ObjectIdentifier(UUID.self)
        case .data: ObjectIdentifier(Data.self)
        case .url: ObjectIdentifier(URL.self)
        case .decimal: ObjectIdentifier(Decimal.self)
        case .value: ObjectIdentifier(BSONValue.self)
        case .document: ObjectIdentifier(BSONDocument.self)
        case .array: ObjectIdentifier(BSONArray.self)
        case .objectID: ObjectIdentifier(BSONObjectID.self)
        case .decimal128: ObjectIdentifier(BSONDecimal128.self)
        case .binary: ObjectIdentifier(BSONBinary.self)
        case .datetime: ObjectIdentifier(BSONDatetime.self)
        case .timestamp: ObjectIdentifier(BSONTimestamp.self)
        case .regularExpression: ObjectIdentifier(BSONRegularExpression.self)
        case .dbPointer: ObjectIdentifier(BSONDBPointer.self)
        case .javascriptWithScope: ObjectIdentifier(BSONJavaScriptWithScope.self)
        case .int16: ObjectIdentifier(Int16.self)
        case .int8: ObjectIdentifier(Int8.self)
        case .uint: ObjectIdentifier(UInt.self)
        case .uint64: ObjectIdentifier(UInt64.self)
        case .uint32: ObjectIdentifier(UInt32.self)
        case .uint16: ObjectIdentifier(UInt16.self)
        case .uint8: ObjectIdentifier(UInt8.self)
        case .float: ObjectIdentifier(Float.self)
        case .strings: ObjectIdentifier([String].self)
        case .ints: ObjectIdentifier([Int].self)
        case .doubles: ObjectIdentifier([Double].self)
        case .bools: ObjectIdentifier([Bool].self)
        case .int64s: ObjectIdentifier([Int64].self)
        case .int32s: ObjectIdentifier([Int32].self)
        }
    }
}

/// Reinterprets a value as the type that its own type was found to be identical to.
@inline(__always)
func reinterpret<T, U>(_ value: T, as type: U.Type) -> U {
    precondition(T.self == U.self, "Only equal types are the same.")
    return withUnsafePointer(to: value) { UnsafeRawPointer($0).load(as: U.self) }
}

/// A position in an array, or the place of a superclass, in a coding path.
struct BSONPositionKey: CodingKey {
    static let superclass = BSONPositionKey(intValue: nil)

    let intValue: Int?

    var stringValue: String { intValue.map { "Index \($0)" } ?? "super" }

    private init(intValue: Int?) { self.intValue = intValue }

    init(index: Int) { intValue = index }
    init?(intValue: Int) { self.intValue = intValue }
    init?(stringValue: String) { nil }
}
