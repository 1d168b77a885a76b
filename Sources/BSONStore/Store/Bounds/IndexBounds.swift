/// Says between which keys of one index field the values lie that a test can pass.
///
/// Bounds are wide enough, never too narrow: the filter itself looks at each document again, unless
/// they are exact.
struct IndexBounds: Hashable {
    /// In order, without overlap.
    private(set) var intervals: [Interval]
    /// Whether a document without an array on the path passes exactly when its key lies within.
    private(set) var isExact: Bool

    init(_ intervals: [Interval], isExact: Bool) {
        self.intervals = intervals.filter { !$0.isEmpty }
        self.isExact = isExact
    }

    /// Every key.
    static let all = IndexBounds([Interval(.first, .last)], isExact: false)

    /// Keys from one end to another.
    struct Interval: Hashable {
        let lower: End
        let upper: End
        /// The only key that lies in it, when there is only one.
        var point: [UInt8]?

        init(_ lower: End, _ upper: End) {
            self.lower = lower
            self.upper = upper
        }

        /// The keys of one value, and how it is shown.
        init(point key: [UInt8], of value: BSONValue) {
            lower = End(cut: key, value: value, isInclusive: true)
            upper = End(cut: IndexBounds.successor(key), value: value, isInclusive: true)
            point = key
        }

        var isEmpty: Bool { !lower.cut.lexicographicallyPrecedes(upper.cut) }
    }

    /// Where an interval begins or ends.
    struct End: Hashable {
        /// Keys of the interval are at or behind its lower, and before its upper one.
        let cut: [UInt8]
        /// What `explain` shows.
        let value: BSONValue
        let isInclusive: Bool

        static let first = End(cut: [], value: .minKey, isInclusive: true)
        static let last = End(cut: [0xFF], value: .maxKey, isInclusive: true)

        /// The same place as the end of what lies on the other side of it.
        var complement: End { End(cut: cut, value: value, isInclusive: !isInclusive) }
    }

    /// Returns the first bytes that come after all that begin with these.
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
    var holdsNull: Bool { holds(Self.null) }

    private static let null = BSONKey.encode(.null)

    private func holds(_ key: [UInt8]) -> Bool {
        intervals.contains { interval in
            !key.lexicographicallyPrecedes(interval.lower.cut)
                && key.lexicographicallyPrecedes(interval.upper.cut)
        }
    }

    /// What both ask for.
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

    /// What at least one of several asks for.
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

    /// Everything else.
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

    /// The same bounds over inverted keys: what came before an end now comes behind it.
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

// MARK: - Texts

extension IndexBounds {
    /// Returns the intervals as the server prints them, `[5, inf.0]` or `["a", {})`, in the order
    /// in which they are read.
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
