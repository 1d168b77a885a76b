/// Says between which keys of one index field the values lie that a test can pass.
///
/// Bounds are wide enough, never too narrow: the filter itself looks at each document again.
struct IndexBounds: Hashable {
    /// Keys from `lower` up to, not with, `upper`.
    struct Interval: Hashable {
        var lower: [UInt8]
        var upper: [UInt8]
        /// The only key that lies in it, when there is only one.
        var point: [UInt8]?

        static func point(_ value: BSONValue) -> Interval {
            let key = BSONKey.encode(value)
            return Interval(lower: key, upper: IndexBounds.successor(key), point: key)
        }

        var isEmpty: Bool { !lower.lexicographicallyPrecedes(upper) }
    }

    /// In order, without overlap.
    private(set) var intervals: [Interval]

    /// Every key.
    static let all = IndexBounds(intervals: [Interval(lower: [], upper: [0xFF])])

    init(intervals: [Interval]) { self.intervals = intervals }

    /// The first bytes that come after all that begin with these.
    static func successor(_ bytes: [UInt8]) -> [UInt8] {
        var next = bytes
        while let last = next.popLast() {
            if last < 0xFF {
                next.append(last + 1)
                return next
            }
        }
        return [0xFF, 0xFF]
    }

    /// Whether only single values are asked for.
    var arePoints: Bool { intervals.allSatisfy { $0.point != nil } }

    /// Whether a missing field is among what is asked for.
    var holdsNull: Bool {
        let null = BSONKey.encode(.null)
        return intervals.contains { interval in
            !null.lexicographicallyPrecedes(interval.lower)
                && null.lexicographicallyPrecedes(interval.upper)
        }
    }

    /// What both ask for.
    func intersection(_ other: IndexBounds) -> IndexBounds {
        var both: [Interval] = []
        for mine in intervals {
            for theirs in other.intervals {
                let lower =
                    mine.lower.lexicographicallyPrecedes(theirs.lower)
                    ? theirs.lower : mine.lower
                let upper =
                    mine.upper.lexicographicallyPrecedes(theirs.upper)
                    ? mine.upper : theirs.upper
                let common = Interval(
                    lower: lower, upper: upper, point: mine.point ?? theirs.point)
                if !common.isEmpty { both.append(common) }
            }
        }
        return IndexBounds(intervals: both)
    }

    /// The same bounds over inverted keys: what came before an end now comes behind it.
    var inverted: IndexBounds {
        func inverted(_ bytes: [UInt8]) -> [UInt8] { bytes.map { ~$0 } }
        return IndexBounds(
            intervals: intervals.reversed().map { interval in
                Interval(
                    lower: Self.successor(inverted(interval.upper)),
                    upper: Self.successor(inverted(interval.lower)),
                    point: interval.point.map(inverted))
            })
    }
}

// MARK: - Tests

extension IndexBounds {
    /// The bounds of a test; `nil` where an index does not help.
    init?(_ test: Predicate.Test) {
        switch test {
        case .compare(let comparison, let value):
            guard let found = Self.bounds(comparison, value) else { return nil }
            self = found
        case .isIn(let values, let expressions):
            guard expressions.isEmpty else { return nil }
            var intervals: [Interval] = []
            for value in values {
                guard let found = Self.bounds(.equal, value) else { return nil }
                intervals += found.intervals
            }
            intervals.sort { $0.lower.lexicographicallyPrecedes($1.lower) }
            var last: Interval?
            self.intervals = intervals.filter { interval in
                defer { last = interval }
                return interval != last
            }
        default: return nil
        }
    }

    private static func bounds(
        _ comparison: Predicate.Comparison, _ value: BSONValue
    ) -> IndexBounds? {
        switch value {
        case .array, .undefined, .minKey, .maxKey, .regularExpression: return nil
        case .null:
            // A missing field is filed as null; undefined equals null in a filter.
            guard comparison == .equal else { return nil }
            return IndexBounds(intervals: [.point(.undefined), .point(.null)])
        default: break
        }
        let key = BSONKey.encode(value)
        let first = [BSONKey.classByte(of: value.type)]
        let behind = successor(first)
        let interval =
            switch comparison {
            case .equal: Interval.point(value)
            case .less: Interval(lower: first, upper: key)
            case .lessOrEqual: Interval(lower: first, upper: successor(key))
            case .greater: Interval(lower: successor(key), upper: behind)
            case .greaterOrEqual: Interval(lower: key, upper: behind)
            }
        return IndexBounds(intervals: interval.isEmpty ? [] : [interval])
    }
}
