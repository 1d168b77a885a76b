/// Says which keys of an index are read, and in which order.
struct IndexScan {
    /// Keys from `lower` up to, not with, `upper`.
    struct Range {
        let lower: [UInt8]
        let upper: [UInt8]
    }

    let index: StoredIndex
    /// In order, without overlap.
    let ranges: [Range]
    /// The bounds of each field that has any, for `explain`.
    let bounds: [IndexBounds?]
    let isReversed: Bool
    /// Whether the documents come in the order that was asked for.
    let isSorted: Bool

    /// Whether any field is bounded.
    var isBounded: Bool { bounds.contains { $0 != nil } }

    /// Ranges of several fields' values are joined up to so many times.
    private static let rangesMax = 200

    /// Plans a scan; `nil` where the index does not help.
    ///
    /// - Parameter isForced: a hint asks for the index, also where it only lists the documents.
    init?(_ index: StoredIndex, _ filter: Filter, _ sort: SortOrder?, isForced: Bool = false) {
        let definition = index.definition
        // Texts that a collation takes as equal have different keys.
        guard definition.isOrdered, filter.collation == nil, sort?.collation == nil else {
            return nil
        }
        guard isForced || !definition.isHidden else { return nil }
        let tests = Self.tests(of: filter)
        if let partial = index.filter, !IndexImplication.holds(partial, given: tests) {
            return nil
        }
        let bounds = definition.keys.map { Self.bounds($0, tests, index) }
        if definition.isSparse {
            let isPresent = bounds.contains { $0.map { !$0.holdsNull } ?? false }
            guard isPresent else { return nil }
        }
        self.index = index
        self.bounds = Self.leading(
            index.isMultikey ? Self.independent(bounds, definition.keys) : bounds)
        ranges = Self.ranges(definition.keys, self.bounds)
        let direction = Self.direction(index, self.bounds, sort)
        isSorted = sort == nil || direction != nil
        isReversed = direction == .backward
        guard isForced || isBounded || (sort != nil && isSorted) else { return nil }
    }

    /// The tests that every document has to pass, by path.
    private static func tests(of filter: Filter) -> [(path: FieldPath, test: Predicate.Test)] {
        let parts: [Predicate]
        if case .all(let all) = filter.predicate { parts = all } else { parts = [filter.predicate] }
        return parts.compactMap { part in
            if case .field(let path, let test) = part { (path, test) } else { nil }
        }
    }

    /// The bounds of one field.
    ///
    /// In a multikey index two tests may be passed by two elements: only one bounds the keys.
    private static func bounds(
        _ key: IndexDefinition.Key, _ tests: [(path: FieldPath, test: Predicate.Test)],
        _ index: StoredIndex
    ) -> IndexBounds? {
        // A number in a path names an array position or a field, and the index knows only one.
        guard !FieldPath.holdsNumber(key.path) else { return nil }
        let found = tests.filter { $0.path.description == key.path }
            .compactMap { IndexBounds($0.test) }
        guard let first = found.first else { return nil }
        guard !index.isMultikey else { return found.first { $0.arePoints } ?? first }
        return found.dropFirst().reduce(first) { $0.intersection($1) }
    }

    /// The bounds without those of fields that may lie in the same array as a field before: tests of
    /// both may be passed by different elements, which have different keys.
    private static func independent(
        _ bounds: [IndexBounds?], _ keys: [IndexDefinition.Key]
    ) -> [IndexBounds?] {
        var roots: Set<Substring> = []
        return zip(bounds, keys).map { bound, key in
            let root = key.path.split(separator: ".")[0]
            return roots.insert(root).inserted ? bound : nil
        }
    }

    /// The bounds up to the first field that has none or is not bounded to points.
    private static func leading(_ bounds: [IndexBounds?]) -> [IndexBounds?] {
        var leading: [IndexBounds?] = []
        var goesOn = true
        for bound in bounds {
            leading.append(goesOn ? bound : nil)
            goesOn = goesOn && (bound?.arePoints ?? false)
        }
        return leading
    }

    private static func ranges(
        _ keys: [IndexDefinition.Key], _ bounds: [IndexBounds?]
    ) -> [Range] {
        var prefixes: [[UInt8]] = [[]]
        for (key, bound) in zip(keys, bounds) {
            guard let bound else { break }
            let intervals = (key.kind == .descending ? bound.inverted : bound).intervals
            let points = intervals.compactMap(\.point)
            if points.count == intervals.count, prefixes.count * points.count <= rangesMax {
                prefixes = prefixes.flatMap { prefix in points.map { prefix + $0 } }
                continue
            }
            return prefixes.flatMap { prefix in
                intervals.map { Range(lower: prefix + $0.lower, upper: prefix + $0.upper) }
            }
        }
        return prefixes.map { Range(lower: $0, upper: IndexBounds.successor($0)) }
    }

    private enum Direction {
        case forward
        case backward
    }

    /// How the index has to be read to give a sort's order; `nil` where it cannot.
    private static func direction(
        _ index: StoredIndex, _ bounds: [IndexBounds?], _ sort: SortOrder?
    ) -> Direction? {
        guard let sort, !sort.keys.isEmpty, !index.isMultikey, !index.definition.isSparse else {
            return nil
        }
        // Fields that are bounded to one value do not change the order.
        var constants: Set<String> = []
        for (key, bound) in zip(index.definition.keys, bounds) {
            guard let bound, bound.intervals.count == 1, bound.arePoints else { break }
            constants.insert(key.path)
        }
        let wanted = sort.keys.filter { !constants.contains($0.path.description) }
        let given = index.definition.keys.dropFirst(constants.count)
        guard wanted.count <= given.count else { return nil }
        var direction: Direction?
        for (want, have) in zip(wanted, given) {
            guard want.path.description == have.path else { return nil }
            let needed: Direction =
                want.isDescending == (have.kind == .descending) ? .forward : .backward
            guard direction == nil || direction == needed else { return nil }
            direction = needed
        }
        return direction ?? .forward
    }
}

extension FieldPath {
    /// Whether a part of a dotted path is a plain number.
    fileprivate static func holdsNumber(_ path: String) -> Bool {
        path.split(separator: ".").contains { index(String($0)) != nil }
    }
}

/// Decides whether a query's tests make a partial index's filter hold.
enum IndexImplication {
    /// Whether each test of the index's filter follows from a test of the query.
    static func holds(
        _ partial: Filter, given tests: [(path: FieldPath, test: Predicate.Test)]
    ) -> Bool {
        let parts: [Predicate]
        if case .all(let all) = partial.predicate {
            parts = all
        } else {
            parts = [partial.predicate]
        }
        return parts.allSatisfy { part in
            guard case .field(let path, let needed) = part else { return false }
            return tests.contains { $0.path == path && follows(needed, from: $0.test) }
        }
    }

    private static func follows(_ needed: Predicate.Test, from test: Predicate.Test) -> Bool {
        if case .exists = needed {
            switch test {
            case .exists: return true
            case .compare(_, let value): return value != .null
            default: return false
            }
        }
        guard case .compare(let comparison, let bound) = needed,
            case .compare(let given, let value) = test,
            BSONKey.classByte(of: bound.type) == BSONKey.classByte(of: value.type)
        else { return false }
        let order = BSONOrder.compare(value, bound)
        switch (given, comparison) {
        case (.equal, .equal): return order == .equal
        case (.equal, .less), (.less, .less):
            return order == .less || (given == .less && order == .equal)
        case (.lessOrEqual, .less): return order == .less
        case (.equal, .lessOrEqual), (.less, .lessOrEqual), (.lessOrEqual, .lessOrEqual):
            return order != .greater
        case (.equal, .greater): return order == .greater
        case (.greater, .greater): return order != .less
        case (.greaterOrEqual, .greater): return order == .greater
        case (.equal, .greaterOrEqual), (.greater, .greaterOrEqual),
            (.greaterOrEqual, .greaterOrEqual):
            return order != .less
        default: return false
        }
    }
}
