/// The ranges of one index field's keys that contain all values that can pass a test.
///
/// Bounds may be too wide, never too narrow: unless they are exact, the filter checks each document
/// again.
struct IndexBounds: Hashable {
    /// The intervals in order, without overlap.
    private(set) var intervals: [Interval]
    /// Whether a document without an array on the path passes exactly when its key is within the
    /// bounds.
    private(set) var isExact: Bool

    init(_ intervals: [Interval], isExact: Bool) {
        self.intervals = intervals.filter { !$0.isEmpty }
        self.isExact = isExact
    }

    /// Bounds that contain every key.
    static let all = IndexBounds([Interval(.first, .last)], isExact: false)

    /// A range of keys between two ends.
    struct Interval: Hashable {
        let lower: End
        let upper: End
        /// The key of an interval that contains only one.
        var point: [UInt8]?

        init(_ lower: End, _ upper: End) {
            self.lower = lower
            self.upper = upper
        }

        /// The interval of one value's keys; `explain` shows the value.
        init(point key: [UInt8], of value: BSONValue) {
            lower = End(cut: key, value: value, isInclusive: true)
            upper = End(cut: IndexBounds.successor(key), value: value, isInclusive: true)
            point = key
        }

        var isEmpty: Bool { !lower.cut.lexicographicallyPrecedes(upper.cut) }
    }

    /// The begin or end of an interval.
    struct End: Hashable {
        /// The first bytes of the interval (lower end), or the first bytes after it (upper end).
        let cut: [UInt8]
        /// The value that `explain` shows.
        let value: BSONValue
        let isInclusive: Bool

        static let first = End(cut: [], value: .minKey, isInclusive: true)
        static let last = End(cut: [0xFF], value: .maxKey, isInclusive: true)

        /// The same place as the end of the neighbouring interval.
        var complement: End { End(cut: cut, value: value, isInclusive: !isInclusive) }
    }

    /// Returns the first bytes after all that have these as prefix.
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

    /// Whether the bounds consist of single values.
    var arePoints: Bool { intervals.allSatisfy { $0.point != nil } }

    /// Whether the bounds contain a missing field.
    var holdsNull: Bool { holds(Self.null) }

    private static let null = BSONKey.encode(.null)

    private func holds(_ key: [UInt8]) -> Bool {
        intervals.contains { interval in
            !key.lexicographicallyPrecedes(interval.lower.cut)
                && key.lexicographicallyPrecedes(interval.upper.cut)
        }
    }

    /// Returns the keys that both contain.
    func intersection(_ other: IndexBounds) -> IndexBounds {
        var both: [Interval] = []
        for mine in intervals {
            for theirs in other.intervals {
                var common = Interval(
                    mine.lower.cut.lexicographicallyPrecedes(theirs.lower.cut)
                        ? theirs.lower : mine.lower,
                    mine.upper.cut.lexicographicallyPrecedes(theirs.upper.cut)
                        ? mine.upper : theirs.upper)
                common.point = mine.point ?? theirs.point
                if !common.isEmpty { both.append(common) }
            }
        }
        return IndexBounds(both, isExact: isExact && other.isExact)
    }

    /// Returns the keys that at least one of several contains.
    static func union(_ parts: [IndexBounds]) -> IndexBounds {
        var merged: [Interval] = []
        let sorted = parts.flatMap(\.intervals).sorted {
            $0.lower.cut.lexicographicallyPrecedes($1.lower.cut)
        }
        for interval in sorted {
            guard let last = merged.last,
                interval.lower.cut.lexicographicallyPrecedes(last.upper.cut)
            else {
                merged.append(interval)
                continue
            }
            guard last.upper.cut.lexicographicallyPrecedes(interval.upper.cut) else { continue }
            merged[merged.count - 1] = Interval(last.lower, interval.upper)
        }
        return IndexBounds(merged, isExact: parts.allSatisfy(\.isExact))
    }

    /// All other keys.
    var complement: IndexBounds {
        var rest: [Interval] = []
        var lower = End.first
        for interval in intervals {
            rest.append(Interval(lower, interval.lower.complement))
            lower = interval.upper.complement
        }
        rest.append(Interval(lower, .last))
        return IndexBounds(rest, isExact: isExact)
    }

    /// The same bounds over inverted keys, which have the opposite order.
    var inverted: IndexBounds {
        func inverted(_ bytes: [UInt8]) -> [UInt8] { bytes.map { ~$0 } }
        func cut(_ end: End) -> End {
            End(
                cut: Self.successor(inverted(end.cut)), value: end.value,
                isInclusive: end.isInclusive)
        }
        return IndexBounds(
            intervals.reversed().map { interval in
                var other = Interval(cut(interval.upper), cut(interval.lower))
                other.point = interval.point.map(inverted)
                return other
            }, isExact: isExact)
    }
}

// MARK: - Strings

extension IndexBounds {
    /// Returns the intervals as the server prints them, `[5, inf.0]` or `["a", {})`, in scan order.
    func texts(isReversed: Bool) -> [String] {
        let texts = intervals.map { interval in
            let lower = ShellText.text(of: interval.lower.value)
            let upper = ShellText.text(of: interval.upper.value)
            return isReversed
                ? (interval.upper.isInclusive ? "[" : "(") + "\(upper), \(lower)"
                    + (interval.lower.isInclusive ? "]" : ")")
                : (interval.lower.isInclusive ? "[" : "(") + "\(lower), \(upper)"
                    + (interval.upper.isInclusive ? "]" : ")")
        }
        return isReversed ? texts.reversed() : texts
    }
}
