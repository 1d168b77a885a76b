/// The conditions of a filter, ready for planning.
struct IndexQuery {
    /// The conditions that every matching document fulfils.
    private(set) var conditions: [IndexCondition] = []
    /// Groups of alternatives; one of each group holds.
    private(set) var alternatives: [[IndexQuery]] = []
    /// Whether the conditions are equivalent to the filter.
    private(set) var isComplete = true
    let collation: Collation?
    private var elementCount = 0

    init(_ filter: Filter) {
        collation = filter.collation
        add(filter.plannedPredicate)
    }

    private init(_ predicate: Predicate, _ collation: Collation?) {
        self.collation = collation
        add(predicate)
    }

    /// Returns the query with the conditions of another one added.
    ///
    /// The result is never complete: the other may ask for more than its conditions express.
    func joined(_ other: IndexQuery) -> IndexQuery {
        var joined = self
        joined.isComplete = false
        joined.conditions += other.conditions.filter { $0.elements.isEmpty }
        return joined
    }

    /// The tests of whole paths, for partial indexes.
    var tests: [(path: FieldPath, test: Predicate.Test)] {
        conditions.filter { !$0.isNegated && $0.elements.isEmpty }.map { ($0.path, $0.test) }
    }

    private mutating func add(_ predicate: Predicate) {
        switch predicate {
        case .all(let parts): for part in parts { add(part) }
        case .any(let parts):
            isComplete = false
            alternatives.append(parts.map { IndexQuery($0, collation) })
        case .field(let path, let test): add(path, test, isNegated: false, [])
        case .not(.field(let path, let test)): add(path, test, isNegated: true, [])
        case .not, .special: isComplete = false
        }
    }

    private mutating func add(
        _ path: FieldPath, _ test: Predicate.Test, isNegated: Bool,
        _ elements: [IndexCondition.Element]
    ) {
        switch test {
        case .hasDocument(let inner) where !isNegated: addParts(of: inner, path, elements)
        case .hasElement(let inner) where !isNegated: addParts(of: inner, path, elements)
        case .compare, .isIn, .matches, .exists, .hasType, .hasSize, .modulo, .hasDocument,
            .hasElement, .special:
            conditions.append(
                IndexCondition(
                    path: path, name: path.description, test: test, isNegated: isNegated,
                    elements: elements))
        }
    }

    private mutating func addParts(
        of inner: Predicate, _ path: FieldPath, _ elements: [IndexCondition.Element]
    ) {
        isComplete = false
        elementCount += 1
        let element = IndexCondition.Element(id: elementCount, depth: path.parts.count)
        let parts: [Predicate]
        if case .all(let all) = inner { parts = all } else { parts = [inner] }
        for part in parts {
            let (rest, test, isNegated): (FieldPath, Predicate.Test, Bool)
            switch part {
            case .field(let path, let inner): (rest, test, isNegated) = (path, inner, false)
            case .not(.field(let path, let inner)): (rest, test, isNegated) = (path, inner, true)
            case .all, .any, .not, .special: continue
            }
            // Members of a nested array have no keys of their own.
            if rest.parts.isEmpty, test.isOfMembers { continue }
            add(
                FieldPath(parts: path.parts + rest.parts), test, isNegated: isNegated,
                elements + [element])
        }
    }
}

extension Predicate.Test {
    /// Whether the test applies to members of an array.
    fileprivate var isOfMembers: Bool {
        switch self {
        case .hasDocument, .hasElement: true
        case .compare, .isIn, .matches, .exists, .hasType, .hasSize, .modulo, .special: false
        }
    }
}
