internal import BSONStore

/// The values of one field that a query's documents have to hold, where it names some.
///
/// A document that holds none of them does not match, whatever else the query asks for.
struct WantedValues: Sendable, Hashable {
    /// The name of the field, at the top level of a document.
    let field: Name
    /// The values: a document, or one of the elements of an array in it, holds one of them.
    let values: [BSONValue]
    /// Whether the query asks for nothing else.
    let isWholeQuery: Bool

    /// The largest number of values of a query that are distinguished.
    private static let valuesMax = 10_000

    /// Finds the values in a filter; `nil` for a filter that names none.
    init?(_ filter: BSONDocument) {
        for (key, value) in filter {
            if key == "$and" {
                let parts = value.arrayValue?.compactMap(\.documentValue) ?? []
                guard let found = parts.lazy.compactMap(WantedValues.init).first else { continue }
                self.init(found.field, found.values, isWholeQuery: false)
                return
            }
            guard !key.hasBytePrefix("$"), !key.contains("."), let found = Self.values(value) else {
                continue
            }
            let isWhole = filter.keys.count == 1 && (value.documentValue?.keys.count ?? 1) == 1
            self.init(Name(key), found, isWholeQuery: isWhole)
            return
        }
        return nil
    }

    private init(_ field: Name, _ values: [BSONValue], isWholeQuery: Bool) {
        self.field = field
        self.values = values
        self.isWholeQuery = isWholeQuery
    }

    private static func values(_ condition: BSONValue) -> [BSONValue]? {
        guard let operators = condition.documentValue else {
            return isComparable(condition) ? [condition] : nil
        }
        if let value = operators["$eq"] { return isComparable(value) ? [value] : nil }
        guard let list = operators["$in"]?.arrayValue?.values, list.count <= valuesMax,
            list.allSatisfy(isComparable)
        else { return nil }
        return list
    }

    /// Whether values of a type are equal only to values with an equal key.
    static func isComparable(_ value: BSONValue) -> Bool {
        switch value {
        case .double(let number): !number.isNaN
        case .string, .binary, .objectID, .bool, .datetime, .int32, .int64: true
        case .document, .array, .undefined, .null, .regularExpression, .dbPointer, .javascript,
            .symbol, .javascriptWithScope, .timestamp, .decimal128, .minKey, .maxKey:
            false
        }
    }
}

extension WantedValues {
    /// Returns the keys of the values that a field holds; `nil` if keys cannot show that.
    static func keys(of held: BSONValue) -> [[UInt8]]? {
        switch held {
        case .null, .document: return []
        case .array(let elements):
            var keys: [[UInt8]] = []
            for element in elements {
                switch element {
                case .null, .document, .array: continue
                case let value where isComparable(value): keys.append(BSONKey.encode(value))
                default: return nil
                }
            }
            return keys
        case let value where isComparable(value): return [BSONKey.encode(value)]
        default: return nil
        }
    }
}
