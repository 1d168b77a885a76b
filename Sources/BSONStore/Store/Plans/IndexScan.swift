/// The keys of an index to read, and their order.
struct IndexScan {
    /// The keys from `lower` up to, but excluding, `upper`.
    struct Range {
        let lower: [UInt8]
        let upper: [UInt8]
    }

    let index: StoredIndex
    /// The ranges in order, without overlap; those of a group share their first values.
    let groups: [[Range]]
    /// The bounds of each field, `nil` for an unbounded one; by them plans are compared and explained.
    ///
    /// They are empty in a scan that is chosen without comparison (``init(_:only:)``).
    let bounds: [IndexBounds?]
    let isReversed: Bool
    /// Whether the scan returns documents in the requested order.
    let isSorted: Bool
    /// Whether that order requires merging the groups.
    let isMerged: Bool
    /// Whether exactly the documents of the keys match, and each is read once.
    let isExact: Bool
    /// The number of leading fields bounded to single values.
    let equalities: Int
    /// The path to read in a wildcard index.
    var wildcardPath: String?

    /// All ranges in order.
    var ranges: [Range] { groups.count == 1 ? groups[0] : groups.flatMap(\.self) }

    /// Whether ``bounds`` has a bounded field.
    var hasBounds: Bool { bounds.contains { $0 != nil } }

    /// Whether several keys may point to one document: in a multikey index, or with several fields
    /// below the path of a wildcard index.
    var mayRepeat: Bool { index.isMultikey || (wildcardPath != nil && bounds.contains(.all)) }

    /// The largest number of ranges from combining several fields' values.
    static let rangesMax = 200

    /// Returns the scans of an index that help a query.
    ///
    /// - Parameter isForced: whether a hint asks for the index, even if it only lists the
    ///   documents.
    static func scans(
        _ index: StoredIndex, _ query: IndexQuery, _ sort: SortOrder?, isForced: Bool = false
    ) -> [IndexScan] {
        guard isForced || (!index.definition.isHidden && index.isUsable(for: query)),
            index.definition.hasKeys
        else { return [] }
        if index.wildcard != nil { return wildcards(index, query, sort) }
        return IndexScan(index, query, sort, isForced: isForced).map { [$0] } ?? []
    }

    private init?(
        _ index: StoredIndex, _ query: IndexQuery, _ sort: SortOrder?, isForced: Bool
    ) {
        guard index.definition.hasKeys else { return nil }
        let fields = IndexBoundsBuilder(index, query)
        if index.definition.isSparse, !isForced {
            guard fields.provesPresence else { return nil }
        }
        let split = Self.groups(index.definition.keys, fields.bounds)
        self.index = index
        groups = split.groups
        bounds = fields.bounds.enumerated().map { $0.offset < split.used ? $0.element : nil }
        let points = bounds.prefix { $0?.arePoints ?? false }
        equalities = points.count
        isExact = fields.areExact(used: split.used, rangeCount: split.groups.joined().count)
        let single = points.prefix { $0?.intervals.count == 1 }.count
        let direct = index.direction(sort, constants: single)
        let merged =
            direct == nil && groups.count > 1
            ? index.direction(sort, constants: split.prefixed) : nil
        isMerged = merged != nil
        isSorted = sort == nil || direct != nil || isMerged
        isReversed = (direct ?? merged) == .backward
        guard isForced || hasBounds || (sort != nil && isSorted) else { return nil }
    }

    init(
        _ index: StoredIndex, groups: [[Range]], bounds: [IndexBounds?], isReversed: Bool,
        isSorted: Bool, isExact: Bool = false, wildcardPath: String? = nil
    ) {
        self.index = index
        self.groups = groups
        self.bounds = bounds
        self.isReversed = isReversed
        self.isSorted = isSorted
        self.isExact = isExact
        self.wildcardPath = wildcardPath
        isMerged = false
        equalities = bounds.prefix { $0?.arePoints ?? false }.count
    }

    /// Returns the ranges of some bounds, the number of bounded fields, and the number of those
    /// that form a group's shared values.
    private static func groups(
        _ keys: [IndexDefinition.Key], _ bounds: [IndexBounds?]
    ) -> (groups: [[Range]], used: Int, prefixed: Int) {
        var prefixes: [[UInt8]] = [[]]
        var used = 0
        for (key, bound) in zip(keys, bounds) {
            guard let bound else { break }
            let intervals = (key.kind == .descending ? bound.inverted : bound).intervals
            let points = intervals.compactMap(\.point)
            used += 1
            if points.count == intervals.count, prefixes.count * points.count <= rangesMax {
                prefixes = prefixes.flatMap { prefix in points.map { prefix + $0 } }
                continue
            }
            let groups = prefixes.map { prefix in
                intervals.map {
                    Range(lower: prefix + $0.lower.cut, upper: prefix + $0.upper.cut)
                }
            }
            return (groups, used, used - 1)
        }
        let groups = prefixes.map {
            [Range(lower: $0, upper: IndexBounds.successor($0))]
        }
        return (groups, used, used)
    }
}

extension StoredIndex {
    /// A direction in which to read keys.
    enum Direction {
        case forward
        case backward
    }

    /// Returns how the index's collation relates to the query's.
    func texts(for query: IndexQuery) -> IndexBounds.Texts {
        IndexBounds.Texts(
            collation: collation, areComparable: collation == query.collation)
    }

    /// Whether the index contains all documents that can match, according to its filter.
    func isUsable(for query: IndexQuery) -> Bool {
        guard let filter else { return true }
        return collation == query.collation && IndexImplication.holds(filter, given: query.tests)
    }

    /// Returns the direction in which the keys give a sort's order; `nil` if neither does.
    ///
    /// - Parameter constants: the number of leading fields with a single value.
    func direction(_ sort: SortOrder?, constants: Int) -> Direction? {
        guard let sort, !sort.keys.isEmpty, !isMultikey, definition.isOrdered,
            sort.collation == collation
        else { return nil }
        let fixed = Set(names: definition.keys.prefix(constants).map(\.path))
        let wanted = sort.keys.filter { !fixed.contains($0.path.description) }
        let given = definition.keys.dropFirst(constants)
        guard wanted.count <= given.count else { return nil }
        var direction: Direction?
        for (want, have) in zip(wanted, given) {
            guard want.metadata == nil, want.path.description.hasSameBytes(as: have.path) else {
                return nil
            }
            let needed: Direction =
                want.isDescending == (have.kind == .descending) ? .forward : .backward
            guard direction == nil || direction == needed else { return nil }
            direction = needed
        }
        return direction ?? .forward
    }
}
