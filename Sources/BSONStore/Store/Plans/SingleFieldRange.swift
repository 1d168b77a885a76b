/// The key range of a simple filter on one field, equivalent to that filter.
struct SingleFieldRange {
    let field: String
    let range: IndexScan.Range

    /// Accepts an equality, or a lower and an upper bound of one type class.
    init?(_ predicate: Predicate) {
        switch predicate {
        case .field(let path, .compare(.equal, let value)):
            guard let key = Self.key(of: value) else { return nil }
            self.init(path, key, IndexBounds.successor(key))
        case .all(let parts):
            guard parts.count == 2, case .field(let path, .compare(let first, let one)) = parts[0],
                case .field(path, .compare(let second, let other)) = parts[1],
                let lower = Self.lower(first, one) ?? Self.lower(second, other),
                let upper = Self.upper(first, one) ?? Self.upper(second, other),
                lower.first == upper.first, lower.lexicographicallyPrecedes(upper)
            else { return nil }
            self.init(path, lower, upper)
        case .any, .not, .field, .special: return nil
        }
    }

    private init?(_ path: FieldPath, _ lower: [UInt8], _ upper: [UInt8]) {
        guard let first = path.parts.first, first != "_id", !path.holdsNumber else { return nil }
        field = path.parts.count == 1 ? first : path.description
        range = IndexScan.Range(lower: lower, upper: upper)
    }

    private static func lower(_ comparison: Predicate.Comparison, _ value: BSONValue) -> [UInt8]? {
        switch comparison {
        case .equal, .less, .lessOrEqual: nil
        case .greater: key(of: value).map { IndexBounds.successor($0) }
        case .greaterOrEqual: key(of: value)
        }
    }

    private static func upper(_ comparison: Predicate.Comparison, _ value: BSONValue) -> [UInt8]? {
        switch comparison {
        case .equal, .greater, .greaterOrEqual: nil
        case .less: key(of: value)
        case .lessOrEqual: key(of: value).map { IndexBounds.successor($0) }
        }
    }

    /// Returns the key of a value that equals exactly the values with the same key; `nil` for other
    /// values.
    private static func key(of value: BSONValue) -> [UInt8]? {
        switch value {
        case .double(let number): number.isNaN ? nil : BSONKey.encode(value)
        case .string, .objectID, .bool, .datetime, .int32, .timestamp, .int64:
            BSONKey.encode(value)
        case .document, .array, .binary, .undefined, .null, .regularExpression, .dbPointer,
            .javascript, .symbol, .javascriptWithScope, .decimal128, .minKey, .maxKey:
            nil
        }
    }
}

extension IndexScan {
    /// Scans the documents whose first field is in a range equivalent to the filter.
    ///
    /// The scan is run, not compared with others or explained: it has no ``bounds``, although a
    /// range bounds it, and is sorted only for a query without a sort.
    init(_ index: StoredIndex, only range: Range) {
        self.init(
            index, groups: [[range]], bounds: [], isReversed: false, isSorted: true, isExact: true)
    }
}
