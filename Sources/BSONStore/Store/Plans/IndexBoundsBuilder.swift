/// A builder of the bounds of one index's fields.
struct IndexBoundsBuilder {
    private(set) var bounds: [IndexBounds?] = []
    /// Whether every document that can match has one of the fields.
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
                // The hash of null no longer shows that the value was null.
                if !bound.holdsNull { provesPresence = true }
                if key.kind == .special("hashed") { found = IndexKeyGenerator.hashed(bound) }
            }
            bounds.append(found)
        }
    }

    private typealias Bounded = (condition: IndexCondition, bounds: IndexBounds)

    private func conditions(_ path: String) -> [Bounded] {
        query.conditions.compactMap { condition in
            // The index stores either an array position or a field with that name.
            guard condition.name.hasSameBytes(as: path), !condition.path.holdsNumber else {
                return nil
            }
            return condition.bounds(texts, hasArrays: index.isMultikey).map { (condition, $0) }
        }
    }

    /// Returns the best bounds for a multikey field: those of one test only, because different
    /// array members may pass two tests, unless both concern the same member.
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

    /// Whether the bounds of the first fields are equivalent to the query.
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
