extension IndexBounds {
    /// The collation of an index's keys compared with that of a query.
    struct Texts {
        /// The collation that the index's keys are made with.
        let collation: Collation?
        /// Whether the query uses the same collation.
        let areComparable: Bool

        /// Returns the key of a constant; `nil` where the index orders it differently.
        func key(of value: BSONValue) -> [UInt8]? {
            guard Collation.concerns(value) else { return BSONKey.encode(value) }
            guard areComparable else { return nil }
            return BSONKey.encode(collation?.key(value) ?? value)
        }
    }

    /// The bounds of the values that pass a test; `nil` where an index does not help.
    init?(_ test: Predicate.Test, _ texts: Texts) {
        let found: IndexBounds? =
            switch test {
            case .compare(.equal, let value): Self.equality(value, texts)
            case .compare(let comparison, let value): Self.range(comparison, value, texts)
            case .isIn(let values, let expressions): Self.members(values, expressions, texts)
            case .matches(let expression): Self.matches(expression, texts)
            case .exists: .all
            case .hasType(let types): Self.types(types)
            case .modulo: Self.classes([.double])
            case .special(.bits): Self.classes([.double, .binary])
            case .hasSize, .hasDocument, .hasElement, .special: nil
            }
        guard let found else { return nil }
        self = found
    }

    /// The bounds of the values that fail a test; `nil` if they cannot be determined.
    ///
    /// - Parameter hasArrays: whether the index has keys of arrays, where a null key may stand for
    ///   a value that the filter does not treat as null.
    init?(not test: Predicate.Test, _ texts: Texts, hasArrays: Bool) {
        if case .exists = test {
            self = IndexBounds([.init(point: Self.nullKey, of: .null)], isExact: false)
            return
        }
        guard let found = IndexBounds(test, texts) else { return nil }
        switch test {
        case .compare(.equal, .null):
            guard !hasArrays else { return nil }
        case .isIn(let values, let expressions):
            guard expressions.isEmpty, !(hasArrays && values.contains(.null)),
                values.allSatisfy({ $0 == .null || Self.isExact($0) })
            else { return nil }
        case .compare:
            guard found.isExact else { return nil }
        case .matches, .exists, .hasType, .hasSize, .modulo, .hasDocument, .hasElement, .special:
            return nil
        }
        self = found.complement
    }

    private static let nullKey = BSONKey.encode(.null)
    private static let undefinedKey = BSONKey.encode(.undefined)

    /// Whether keys are equal exactly when values are, for a constant of this type.
    private static func isExact(_ value: BSONValue) -> Bool {
        switch value {
        case .double(let value): !value.isNaN
        case .decimal128(let value): value.kind != .nan
        case .string, .objectID, .bool, .datetime, .int32, .timestamp, .int64: true
        case .document, .array, .binary, .undefined, .null, .regularExpression, .dbPointer,
            .javascript, .symbol, .javascriptWithScope, .minKey, .maxKey:
            false
        }
    }

    private static func equality(_ value: BSONValue, _ texts: Texts) -> IndexBounds? {
        switch value {
        case .undefined, .regularExpression: return nil
        case .null:
            // A missing field is indexed as null.
            return IndexBounds([Interval(point: nullKey, of: .null)], isExact: false)
        case .array(let array):
            // The array matches itself, indexed by its first member, or a member that equals it.
            guard let whole = texts.key(of: value) else { return nil }
            let first = array.first { _ in true }
            guard let member = first.map({ texts.key(of: $0) }) ?? undefinedKey else { return nil }
            return union([
                IndexBounds([Interval(point: member, of: first ?? .undefined)], isExact: false),
                IndexBounds([Interval(point: whole, of: value)], isExact: false),
            ])
        default:
            guard let key = texts.key(of: value) else { return nil }
            return IndexBounds([Interval(point: key, of: value)], isExact: isExact(value))
        }
    }

    private static func range(
        _ comparison: Predicate.Comparison, _ value: BSONValue, _ texts: Texts
    ) -> IndexBounds? {
        switch value {
        case .array, .undefined, .minKey, .maxKey, .regularExpression: return nil
        case .null:
            guard comparison == .lessOrEqual || comparison == .greaterOrEqual else { return nil }
            return equality(.null, texts)
        default: break
        }
        guard let key = texts.key(of: value) else { return nil }
        let whole = Self.whole(value)
        let interval =
            switch comparison {
            case .equal: Interval(point: key, of: value)
            case .less:
                Interval(whole.lower, End(cut: key, value: value, isInclusive: false))
            case .lessOrEqual:
                Interval(
                    whole.lower, End(cut: successor(key), value: value, isInclusive: true))
            case .greater:
                Interval(
                    End(cut: successor(key), value: value, isInclusive: false), whole.upper)
            case .greaterOrEqual:
                Interval(End(cut: key, value: value, isInclusive: true), whole.upper)
            }
        let isNumber = BSONKey.classByte(of: value.type) == BSONKey.classByte(of: .double)
        guard isExact(value) else {
            guard isNumber else { return IndexBounds([interval], isExact: false) }
            return equality(value, texts)
        }
        return IndexBounds([interval], isExact: true)
    }

    private static func members(
        _ values: [BSONValue], _ expressions: [BSONRegularExpression], _ texts: Texts
    ) -> IndexBounds? {
        var parts: [IndexBounds] = []
        for value in values {
            guard let part = equality(value, texts) else { return nil }
            parts.append(part)
        }
        for expression in expressions {
            guard let part = matches(expression, texts) else { return nil }
            parts.append(part)
        }
        return union(parts)
    }

    private static func matches(
        _ expression: BSONRegularExpression, _ texts: Texts
    ) -> IndexBounds? {
        let itself = BSONValue.regularExpression(expression)
        let same = Interval(point: BSONKey.encode(itself), of: itself)
        guard texts.collation == nil, let prefix = CompiledRegex.prefix(of: expression) else {
            return IndexBounds([whole(.string("")), same], isExact: false)
        }
        let bytes = [BSONKey.classByte(of: .string)] + Array(prefix.text.utf8)
        let interval = Interval(
            End(cut: bytes, value: .string(prefix.text), isInclusive: true),
            End(cut: successor(bytes), value: .string(prefix.following), isInclusive: false))
        return IndexBounds([interval, same], isExact: prefix.isWhole)
    }

    private static func types(_ types: Predicate.TypeSet) -> IndexBounds? {
        // The index holds an array's members, not the array.
        guard !types.contains(BSONType.array.rawValue) else { return nil }
        return classes(BSONType.allCases.filter { types.contains($0.rawValue) })
    }

    /// Returns the bounds of all values whose class is that of one of some types.
    private static func classes(_ types: [BSONType]) -> IndexBounds {
        union(types.map { IndexBounds([wholeClass($0)], isExact: false) })
    }

    private static func wholeClass(_ type: BSONType) -> Interval {
        switch type {
        case .double, .int32, .int64, .decimal128:
            let whole = whole(.int32(0))
            let first = [BSONKey.classByte(of: .double)]
            return Interval(
                End(cut: first, value: .double(.nan), isInclusive: true), whole.upper)
        case .string, .symbol: return whole(.string(""))
        case .document: return whole(.document([:]))
        case .array, .binary, .regularExpression, .dbPointer, .javascript, .javascriptWithScope:
            let first = [BSONKey.classByte(of: type)]
            return Interval(
                End(cut: first, value: .minKey, isInclusive: true),
                End(cut: successor(first), value: .maxKey, isInclusive: true))
        case .undefined: return Interval(point: undefinedKey, of: .undefined)
        case .objectID: return whole(.objectID(BSONObjectID(bigEndianHigh: 0, low: 0)))
        case .bool: return whole(.bool(false))
        case .datetime: return whole(.datetime(BSONDatetime(milliseconds: 0)))
        case .null: return Interval(point: nullKey, of: .null)
        case .timestamp: return whole(.timestamp(BSONTimestamp(seconds: 0, increment: 0)))
        case .minKey: return Interval(point: BSONKey.encode(.minKey), of: .minKey)
        case .maxKey: return Interval(point: BSONKey.encode(.maxKey), of: .maxKey)
        }
    }

    /// Returns the interval of all values of the same class except NaN: a range never leaves its
    /// class.
    private static func whole(_ value: BSONValue) -> Interval {
        let first = [BSONKey.classByte(of: value.type)]
        func interval(
            _ lower: BSONValue, _ upper: BSONValue, hasUpper: Bool = true
        ) -> Interval {
            Interval(
                End(cut: first, value: lower, isInclusive: true),
                End(cut: successor(first), value: upper, isInclusive: hasUpper))
        }
        switch value {
        case .double, .int32, .int64, .decimal128:
            let infinity = BSONValue.double(-.infinity)
            return Interval(
                End(cut: BSONKey.encode(infinity), value: infinity, isInclusive: true),
                End(cut: successor(first), value: .double(.infinity), isInclusive: true))
        case .string, .symbol:
            return interval(.string(""), .document([:]), hasUpper: false)
        case .document: return interval(.document([:]), .array([]), hasUpper: false)
        case .bool: return interval(false, true)
        case .datetime:
            return interval(
                .datetime(BSONDatetime(milliseconds: .min)),
                .datetime(BSONDatetime(milliseconds: .max)))
        case .objectID:
            return interval(
                .objectID(BSONObjectID(bigEndianHigh: 0, low: 0)),
                .objectID(BSONObjectID(bigEndianHigh: .max, low: .max)))
        case .timestamp:
            return interval(
                .timestamp(BSONTimestamp(seconds: 0, increment: 0)),
                .timestamp(BSONTimestamp(seconds: .max, increment: .max)))
        case .array, .binary, .undefined, .null, .regularExpression, .dbPointer, .javascript,
            .javascriptWithScope, .minKey, .maxKey:
            return interval(.minKey, .maxKey)
        }
    }
}
