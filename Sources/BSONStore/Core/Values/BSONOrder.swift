/// The relation of two values in MongoDB's total comparison order.
///
/// Types are ordered MinKey, undefined, null, numbers, strings with symbols, documents, arrays,
/// binaries, ObjectIds, booleans, datetimes, timestamps, regular expressions, DBPointers, code,
/// code with scope, MaxKey. Numbers of all widths compare by exact value, NaN is the least and -0.0
/// equals 0.0. Texts compare by their UTF-8 bytes; binaries by length, subtype, bytes. Documents
/// compare element by element by type, key, value; arrays by their values.
///
/// Source: MongoDB manual, "Comparison/Sort Order"; undefined and the deprecated types are placed
/// where the server sorts them.
public enum BSONOrder: Int8, Sendable, Hashable {
    /// The left value sorts first.
    case less = -1
    /// Neither value sorts first; their representations may still differ.
    case equal = 0
    /// The right value sorts first.
    case greater = 1

    /// Compares two values of a comparable type.
    @inlinable
    package init<T: Comparable>(_ left: T, _ right: T) {
        self = left < right ? .less : left > right ? .greater : .equal
    }

    /// The order with both sides exchanged.
    public var reversed: BSONOrder {
        switch self {
        case .less: .greater
        case .equal: .equal
        case .greater: .less
        }
    }

    /// Compares two values of any types.
    public static func compare(_ left: BSONValue, _ right: BSONValue) -> BSONOrder {
        let (a, b) = (rank(left.type), rank(right.type))
        guard a == b else { return BSONOrder(a, b) }
        switch (left, right) {
        case (.string(let a), .string(let b)), (.string(let a), .symbol(let b)):
            return compare(a, b)
        case (.document(let a), .document(let b)): return compare(a, b)
        case (.array(let a), .array(let b)):
            return a.document.withUnsafeBytes { left in
                b.document.withUnsafeBytes { right in compareArrays(left, right) }
            }
        case (.binary(let a), .binary(let b)): return compare(a, b)
        case (.objectID(let a), .objectID(let b)): return compare(a, b)
        case (.bool(let a), .bool(let b)): return BSONOrder(a ? 1 : 0, b ? 1 : 0)
        case (.datetime(let a), .datetime(let b)): return BSONOrder(a, b)
        case (.regularExpression(let a), .regularExpression(let b)):
            let order = compare(a.pattern, b.pattern)
            return order == .equal ? compare(a.options, b.options) : order
        case (.dbPointer(let a), .dbPointer(let b)):
            let counts = BSONOrder(a.namespace.utf8.count, b.namespace.utf8.count)
            guard counts == .equal else { return counts }
            let order = compare(a.namespace, b.namespace)
            return order == .equal ? compare(a.id, b.id) : order
        case (.javascript(let a), .javascript(let b)): return compare(a, b)
        case (.symbol(let a), .string(let b)), (.symbol(let a), .symbol(let b)):
            return compare(a, b)
        case (.javascriptWithScope(let a), .javascriptWithScope(let b)):
            let order = compare(a.code, b.code)
            return order == .equal ? compare(a.scope, b.scope) : order
        case (.timestamp(let a), .timestamp(let b)): return BSONOrder(a, b)
        default:
            guard let a = BSONNumber(left), let b = BSONNumber(right) else { return .equal }
            return BSONNumber.compare(a, b)
        }
    }

    /// Compares two documents element by element: type, key, value; the shorter sorts first.
    public static func compare(_ left: BSONDocument, _ right: BSONDocument) -> BSONOrder {
        left.withUnsafeBytes { a in right.withUnsafeBytes { b in compareDocuments(a, b) } }
    }

    /// Returns the place of a type's class; types of the same class compare by value.
    package static func rank(_ type: BSONType) -> Int8 {
        switch type {
        case .double: 10
        case .string: 15
        case .document: 20
        case .array: 25
        case .binary: 30
        case .undefined: 0
        case .objectID: 35
        case .bool: 40
        case .datetime: 45
        case .null: 5
        case .regularExpression: 50
        case .dbPointer: 55
        case .javascript: 60
        case .symbol: 15
        case .javascriptWithScope: 65
        case .int32: 10
        case .timestamp: 47
        case .int64, .decimal128: 10
        case .minKey: -1
        case .maxKey: 127
        }
    }

    private static func compare(_ left: String, _ right: String) -> BSONOrder {
        var (a, b) = (left, right)
        return a.withUTF8 { a in
            b.withUTF8 { b in
                compareBytes(UnsafeRawBufferPointer(a), UnsafeRawBufferPointer(b))
            }
        }
    }

    private static func compare(_ left: BSONObjectID, _ right: BSONObjectID) -> BSONOrder {
        BSONOrder(left.high, right.high) == .equal
            ? BSONOrder(left.low, right.low) : BSONOrder(left.high, right.high)
    }

    private static func compare(_ left: BSONBinary, _ right: BSONBinary) -> BSONOrder {
        let counts = BSONOrder(left.wireCount, right.wireCount)
        guard counts == .equal else { return counts }
        let subtypes = BSONOrder(left.subtype, right.subtype)
        guard subtypes == .equal else { return subtypes }
        return left.bytes.withUnsafeBytes { a in
            right.bytes.withUnsafeBytes { b in compareBytes(a, b) }
        }
    }
}

extension BSONBinary {
    /// The length on the wire; for subtype 2 it includes the inner length.
    var wireCount: Int { subtype == 2 ? bytes.count + 4 : bytes.count }
}
