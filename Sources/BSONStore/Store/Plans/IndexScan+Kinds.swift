extension IndexScan {
    /// The scan for the distinct values of a field, for a filter that only tests that field.
    ///
    /// Impossible on a multikey index: a document does not reveal which of its values a key has.
    init?(distinct index: StoredIndex, _ field: String, _ query: IndexQuery, _ filter: Filter) {
        guard let key = index.definition.keys.first, key.path.hasSameBytes(as: field),
            !index.isMultikey,
            index.definition.isOrdered, index.wildcard == nil, !index.definition.isHidden,
            index.filter == nil, index.collation == query.collation,
            !field.dottedParts.contains(where: { FieldPath.index($0) != nil })
        else { return nil }
        if filter.isEverything {
            let all = Range(lower: [], upper: [0xFF, 0xFF])
            self.init(
                index, groups: [[all]], bounds: index.definition.keys.map { _ in .all },
                isReversed: false, isSorted: false)
            return
        }
        let found = IndexScan.scans(index, query, nil).first
        guard let found, found.isExact,
            query.conditions.allSatisfy({ $0.name.hasSameBytes(as: field) })
        else {
            return nil
        }
        self = found
    }
}

extension IndexScan {
    /// Returns the scans of a wildcard index, one for each queried path.
    static func wildcards(
        _ index: StoredIndex, _ query: IndexQuery, _ sort: SortOrder?
    ) -> [IndexScan] {
        guard let wildcard = index.wildcard else { return [] }
        let texts = index.texts(for: query)
        var best: [Name: (condition: IndexCondition, bounds: IndexBounds)] = [:]
        for condition in query.conditions
        where !condition.isNegated && hasKeys(condition.test) && !condition.path.holdsNumber
            && wildcard.covers(condition.name)
            // A path with an empty last name also leads to an array itself, which has no such key.
            && condition.path.parts.last?.isEmpty != true
        {
            guard let bounds = condition.bounds(texts, hasArrays: index.isMultikey) else {
                continue
            }
            guard let known = best[condition.name] else {
                best[condition.name] = (condition, bounds)
                continue
            }
            if !index.isMultikey || known.condition.concernsSameValue(as: condition) {
                best[condition.name]?.bounds = known.bounds.intersection(bounds)
            } else if bounds.arePoints, !known.bounds.arePoints || known.bounds == .all {
                best[condition.name] = (condition, bounds)
            }
        }
        return best.sorted { $0.key < $1.key }.map { path, found in
            scan(index, path.text, found.bounds, sort)
        }
    }

    private static func scan(
        _ index: StoredIndex, _ path: String, _ bounds: IndexBounds, _ sort: SortOrder?
    ) -> IndexScan {
        let prefix = WildcardKeyGenerator.prefix(of: path)
        var ranges = bounds.intervals.map {
            Range(lower: prefix + $0.lower.cut, upper: prefix + $0.upper.cut)
        }
        if bounds == .all {
            // A document at the path is indexed by its contents.
            let below = [BSONKey.classByte(of: .string)] + Array("\(path).".utf8)
            ranges.append(Range(lower: below, upper: IndexBounds.successor(below)))
            ranges.sort { $0.lower.lexicographicallyPrecedes($1.lower) }
        }
        let isBySort =
            sort?.keys.count == 1
            && sort?.keys.first?.path.description.hasSameBytes(as: path) == true
            && sort?.collation == index.collation && !index.isMultikey && bounds != .all
        return IndexScan(
            index, groups: [ranges], bounds: [bounds],
            isReversed: isBySort && sort?.keys.first?.isDescending == true,
            isSorted: sort == nil || isBySort, wildcardPath: path)
    }

    /// Whether every value that passes a test has a key of its own; not so for missing values, and
    /// for whole documents or arrays that are not empty.
    private static func hasKeys(_ test: Predicate.Test) -> Bool {
        func isLeaf(_ value: BSONValue) -> Bool {
            switch value.type {
            case .document, .array, .null, .undefined, .minKey, .maxKey: false
            default: true
            }
        }
        func isEmpty(_ value: BSONValue) -> Bool {
            value == .document([:]) || value == .array([])
        }
        switch test {
        case .compare(.equal, let value): return isLeaf(value) || isEmpty(value)
        case .compare(_, let value): return isLeaf(value)
        case .isIn(let values, _): return values.allSatisfy { isLeaf($0) || isEmpty($0) }
        case .matches, .exists, .modulo, .special(.bits): return true
        case .hasType(let types): return !types.contains(BSONType.document.rawValue)
        case .hasSize, .hasDocument, .hasElement, .special: return false
        }
    }
}
