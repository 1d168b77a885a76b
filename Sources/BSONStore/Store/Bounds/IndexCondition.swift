/// A condition that every document matching a filter fulfils and that an index may help with.
struct IndexCondition {
    /// A member of an array that several conditions of one `$elemMatch` concern.
    struct Element: Hashable {
        /// The number of the `$elemMatch` in the filter.
        let id: Int
        /// The number of path components that lead to the array.
        let depth: Int
    }

    let path: FieldPath
    /// The dotted path.
    let name: String
    let test: Predicate.Test
    /// Whether the test must fail.
    let isNegated: Bool
    /// The members on the path, the outermost first.
    let elements: [Element]

    /// Returns the bounds in an index; `nil` where the index does not help.
    func bounds(_ texts: IndexBounds.Texts, hasArrays: Bool) -> IndexBounds? {
        isNegated
            ? IndexBounds(not: test, texts, hasArrays: hasArrays) : IndexBounds(test, texts)
    }

    /// Whether both conditions concern the same value, so that one key must be within both bounds.
    func concernsSameValue(as other: IndexCondition) -> Bool {
        guard path == other.path, let mine = elements.last, let theirs = other.elements.last else {
            return false
        }
        return mine == theirs && mine.depth == path.parts.count
    }

    /// Whether, in a multikey index, a document that fulfils both has one key within both bounds;
    /// false where two members of one array may each fulfil one.
    func isIndependent(of other: IndexCondition) -> Bool {
        let shared = elements.last { other.elements.contains($0) }?.depth ?? 0
        guard path.parts.count > shared, other.path.parts.count > shared else { return false }
        return !path.parts[shared].hasSameBytes(as: other.path.parts[shared])
    }
}

extension FieldPath {
    /// Whether a path component is a number, which names a position or a field.
    var holdsNumber: Bool { parts.contains { Self.index($0) != nil } }
}
