/// Says which keys of an index are read, and in which order.
struct IndexScan {
    /// Keys from `lower` up to, not with, `upper`.
    struct Range {
        let lower: [UInt8]
        let upper: [UInt8]
    }

    let index: StoredIndex
    /// In order, without overlap; those of a group begin with the same values.
    let groups: [[Range]]
    /// The bounds of each field that has any, for `explain`.
    let bounds: [IndexBounds?]
    let isReversed: Bool
    /// Whether the documents come in the order that was asked for.
    let isSorted: Bool
    /// Whether they do so only when the groups are merged.
    let isMerged: Bool
    /// Whether exactly the documents pass whose keys are read, each of which is read once.
    let isExact: Bool
    /// How many of the first fields are bounded to single values.
    let equalities: Int
    /// The path whose values are read in a wildcard index.
    var wildcardPath: String?

    /// All ranges in order.
    var ranges: [Range] { groups.count == 1 ? groups[0] : groups.flatMap(\.self) }

    /// Whether any field is bounded.
    var isBounded: Bool { bounds.contains { $0 != nil } }

    /// Whether several keys that are read may lead to one document: where it has arrays, or several
    /// fields below the path of a wildcard index.
    var mayRepeat: Bool { index.isMultikey || (wildcardPath != nil && bounds.contains(.all)) }

    /// Ranges of several fields' values are joined up to so many times.
    static let rangesMax = 200

    /// Returns the scans of an index that help a query.
    ///
    /// - Parameter isForced: a hint asks for the index, also where it only lists the documents.
    static func candidates(
        _ index: StoredIndex, _ query: IndexQuery, _ sort: SortOrder?, isForced: Bool = false
    ) -> [IndexScan] {
        guard isForced || (!index.definition.isHidden && index.isUsable(for: query)),
            index.definition.isFiled
        else { return [] }
        if index.wildcard != nil { return wildcards(index, query, sort) }
        return IndexScan(index, query, sort, isForced: isForced).map { [$0] } ?? []
    }

    private init?(
        _ index: StoredIndex, _ query: IndexQuery, _ sort: SortOrder?, isForced: Bool
    ) {
        guard index.definition.isFiled else { return nil }
        let fields = IndexBoundsBuilder(index, query)
        if index.definition.isSparse, !isForced {
            guard fields.provesPresence else { return nil }
        }
        let plan = Self.groups(index.definition.keys, fields.bounds)
        self.index = index
        groups = plan.groups
        bounds = fields.bounds.enumerated().map { $0.offset < plan.used ? $0.element : nil }
        let points = bounds.prefix { $0?.arePoints ?? false }
        equalities = points.count
        isExact = fields.areExact(used: plan.used, rangeCount: plan.groups.joined().count)
        let single = points.prefix { $0?.intervals.count == 1 }.count
        let direct = index.direction(sort, constants: single)
        let merged =
            direct == nil && groups.count > 1
            ? index.direction(sort, constants: plan.prefixed) : nil
        isMerged = merged != nil
        isSorted = sort == nil || direct != nil || isMerged
        isReversed = (direct ?? merged) == .backward
        guard isForced || isBounded || (sort != nil && isSorted) else { return nil }
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

    /// Returns the ranges that bounds give, how many fields bound them, and how many of these give
    /// the values that a group begins with.
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

/// Chooses the bounds of the fields of one index.
struct IndexBoundsBuilder {
    private(set) var bounds: [IndexBounds?] = []
    /// Whether all documents that can pass have one of the fields.
    private(set) var provesPresence = false
    private let index: StoredIndex
    private let query: IndexQuery
    private let texts: IndexBounds.Texts

    init(_ index: StoredIndex, _ query: IndexQuery) {
        self.index = index
        self.query = query
        texts = index.texts(for: query)
        var taken: [IndexCondition] = []
        for key in index.definition.keys {
            var found: IndexBounds?
            if index.isMultikey {
                if let (condition, bound) = one(key.path, independentOf: taken) {
                    taken.append(condition)
                    found = bound
                }
            } else {
                let all = conditions(key.path)
                found = all.first.map { first in
                    all.dropFirst().reduce(first.bounds) { $0.intersection($1.bounds) }
                }
            }
            if let bound = found {
                // The hash of null no longer tells that it is one of null.
                if !bound.holdsNull { provesPresence = true }
                if key.kind == .special("hashed") { found = IndexKeyGenerator.hashed(bound) }
            }
            bounds.append(found)
        }
    }

    private typealias Bounded = (condition: IndexCondition, bounds: IndexBounds)

    private func conditions(_ path: String) -> [Bounded] {
        query.conditions.compactMap { condition in
            // The index knows either a position in an array or a field with that name.
            guard condition.name == path, !condition.path.holdsNumber else { return nil }
            return condition.bounds(texts, hasArrays: index.isMultikey).map { (condition, $0) }
        }
    }

    /// Returns the best bounds where documents may have several keys: those of one test only,
    /// because different members of an array may pass two, unless both are about one member.
    private func one(_ path: String, independentOf taken: [IndexCondition]) -> Bounded? {
        let all = conditions(path)
        var joined: [Bounded] = []
        for (condition, bounds) in all {
            let same = joined.firstIndex { $0.condition.concernsSameValue(as: condition) }
            if let same {
                joined[same].bounds = joined[same].bounds.intersection(bounds)
            } else {
                joined.append((condition, bounds))
            }
        }
        let free = joined.filter { candidate in
            taken.allSatisfy { candidate.condition.isIndependent(of: $0) }
        }
        return free.first { $0.bounds.arePoints } ?? free.first { $0.bounds != .all } ?? free.first
    }

    /// Whether the bounds of the first fields say all that the query asks.
    func areExact(used: Int, rangeCount: Int) -> Bool {
        guard query.isComplete, !query.conditions.isEmpty else { return false }
        if index.isMultikey, rangeCount != 1 || query.conditions.count != 1 { return false }
        let paths = Set(names: index.definition.keys.prefix(used).map(\.path))
        return query.conditions.allSatisfy { condition in
            guard paths.contains(condition.name), !(index.isMultikey && condition.isNegated),
                !condition.path.holdsNumber
            else { return false }
            return condition.bounds(texts, hasArrays: index.isMultikey)?.isExact ?? false
        } && bounds.prefix(used).allSatisfy { $0?.isExact ?? false }
    }
}

extension StoredIndex {
    /// A way of reading keys.
    enum Direction {
        case forward
        case backward
    }

    /// How the index's texts stand to a query's.
    func texts(for query: IndexQuery) -> IndexBounds.Texts {
        IndexBounds.Texts(
            collation: collation, areComparable: collation == query.collation)
    }

    /// Whether all documents that can pass are in the index, as far as its filter decides.
    func isUsable(for query: IndexQuery) -> Bool {
        guard let filter else { return true }
        return collation == query.collation && IndexImplication.holds(filter, given: query.tests)
    }

    /// How the keys have to be read to give a sort's order; `nil` where they cannot.
    ///
    /// - Parameter constants: how many of the first fields have one value only.
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
            guard want.metadata == nil, want.path.description == have.path else { return nil }
            let needed: Direction =
                want.isDescending == (have.kind == .descending) ? .forward : .backward
            guard direction == nil || direction == needed else { return nil }
            direction = needed
        }
        return direction ?? .forward
    }
}
