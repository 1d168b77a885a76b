/// Says how one document became another: dotted paths that were set, paths that were removed, and
/// arrays that lost their last elements.
///
/// A nested document that stays a document is compared field by field; an array is replaced whole,
/// or compared element by element where that is asked for. Field order is no difference. Source:
/// MongoDB change events, `updateDescription`.
public struct UpdateDescription: Sendable, Hashable {
    /// New values by dotted path.
    public var updatedFields: BSONDocument
    /// Dotted paths that are gone, in the order in which they stood.
    public var removedFields: [String]
    /// Arrays that became shorter, which happens before the new values are set.
    public var truncatedArrays: [TruncatedArray]

    /// An array that lost its last elements.
    public struct TruncatedArray: Sendable, Hashable {
        /// Its dotted path.
        public let field: String
        /// How many elements are left.
        public let newSize: Int

        /// Takes path and size.
        public init(field: String, newSize: Int) {
            self.field = field
            self.newSize = newSize
        }
    }

    /// Makes a description of its parts.
    public init(
        updatedFields: BSONDocument = [:], removedFields: [String] = [],
        truncatedArrays: [TruncatedArray] = []
    ) {
        self.updatedFields = updatedFields
        self.removedFields = removedFields
        self.truncatedArrays = truncatedArrays
    }

    /// Whether nothing differs.
    public var isEmpty: Bool {
        updatedFields.isEmpty && removedFields.isEmpty && truncatedArrays.isEmpty
    }

    /// All paths that it touches.
    public var paths: [String] {
        updatedFields.keys + removedFields + truncatedArrays.map(\.field)
    }
}

extension UpdateDescription {
    /// Compares two documents; `nil` when a dotted path cannot name the difference.
    ///
    /// A key that is empty, begins with `$` or holds a dot cannot stand in a path: below the top
    /// level its parent is set whole, at the top level there is no description and a replacement
    /// is due. `_id` and the excluded field are passed over at the top level only.
    /// O(n) in the size of both, quadratic in the number of fields that changed places.
    ///
    /// - Parameter splittingArrays: whether arrays are compared element by element where that is
    ///   shorter than the whole, as in MongoDB's change events.
    public static func difference(
        from before: BSONDocument, to after: BSONDocument, excluding field: String? = nil,
        splittingArrays: Bool = false
    ) -> UpdateDescription? {
        var comparison = UpdateComparison(splitsArrays: splittingArrays)
        let named = comparison.compare(before, after, prefix: "", excluded: .atTop(field))
        return named ? comparison.description : nil
    }

    /// Carries the description out: sets and removes its paths; a missing parent is made.
    ///
    /// - Throws: ``BSONError/Code/pathNotViable`` when a path leads through a value without fields.
    public func apply(to document: BSONDocument) throws(BSONError) -> BSONDocument {
        var result = document
        for path in removedFields { _ = result.removeValue(atPath: path) }
        for array in truncatedArrays {
            guard let values = result[path: array.field]?.arrayValue?.values else {
                throw BSONError(.pathNotViable, "No array is at '\(array.field)'")
            }
            let kept = BSONArray(values.prefix(max(0, array.newSize)))
            try result.set(path: array.field, to: .array(kept))
        }
        for (path, value) in updatedFields { try result.set(path: path, to: value) }
        return result
    }
}
