/// The difference between two versions of a document: dotted paths that were set, paths that were
/// removed, and arrays that lost their last elements.
///
/// Nested documents are compared field by field. An array is replaced whole, or compared element by
/// element if requested. Field order is ignored. Source: MongoDB change events,
/// `updateDescription`.
public struct UpdateDescription: Sendable, Hashable {
    /// New values by dotted path.
    public var updatedFields: BSONDocument
    /// Removed dotted paths, in the order of the old document.
    public var removedFields: [String]
    /// Arrays that became shorter; truncation precedes setting new values.
    public var truncatedArrays: [TruncatedArray]

    /// An array that lost its last elements.
    public struct TruncatedArray: Sendable, Hashable {
        /// Its dotted path.
        public let field: String
        /// The number of remaining elements.
        public let newSize: Int

        /// Creates a truncation from a path and a size.
        public init(field: String, newSize: Int) {
            self.field = field
            self.newSize = newSize
        }
    }

    /// Creates a description from its parts.
    public init(
        updatedFields: BSONDocument = [:], removedFields: [String] = [],
        truncatedArrays: [TruncatedArray] = []
    ) {
        self.updatedFields = updatedFields
        self.removedFields = removedFields
        self.truncatedArrays = truncatedArrays
    }

    /// Whether the description contains no differences.
    public var isEmpty: Bool {
        updatedFields.isEmpty && removedFields.isEmpty && truncatedArrays.isEmpty
    }

    /// All paths in the description.
    public var paths: [String] {
        updatedFields.keys + removedFields + truncatedArrays.map(\.field)
    }
}

extension UpdateDescription: CustomStringConvertible {
    /// The changes by path: `set {"done":true}, removed due, cut tags to 2`.
    public var description: String {
        var parts: [String] = []
        if !updatedFields.isEmpty { parts.append("set \(updatedFields)") }
        if !removedFields.isEmpty {
            parts.append("removed \(removedFields.joined(separator: ", "))")
        }
        parts += truncatedArrays.map { "cut \($0.field) to \($0.newSize)" }
        return parts.isEmpty ? "no changes" : parts.joined(separator: ", ")
    }
}

extension UpdateDescription {
    /// Compares two documents; `nil` if a dotted path cannot express the difference.
    ///
    /// A key that is empty, begins with `$` or contains a dot cannot occur in a path. Below the top
    /// level, its parent is set whole; at the top level, there is no description and a replacement
    /// is required. `_id` and the excluded field are ignored at the top level only. O(n) in the
    /// size of both.
    ///
    /// - Parameter splittingArrays: whether arrays are compared element by element if that is
    ///   shorter than the whole, as in MongoDB's change events.
    public static func difference(
        from before: BSONDocument, to after: BSONDocument, excluding field: String? = nil,
        splittingArrays: Bool = false
    ) -> UpdateDescription? {
        var comparison = UpdateComparison(splitsArrays: splittingArrays)
        let named = comparison.compare(before, after, prefix: "", excluded: .atTop(field))
        return named ? comparison.description : nil
    }

    /// Applies the description: sets and removes its paths, creating missing parents.
    ///
    /// - Throws: ``BSONError/Code/pathNotViable`` if a path leads through a value without fields.
    public func apply(to document: BSONDocument) throws(BSONError) -> BSONDocument {
        var result = EditedDocument(document)
        for path in removedFields { result.removeValue(atPath: path) }
        for array in truncatedArrays {
            guard let values = result.value(atPath: array.field)?.arrayValue?.values else {
                throw BSONError(.pathNotViable, "No array is at '\(array.field)'")
            }
            let kept = BSONArray(values.prefix(max(0, array.newSize)))
            try result.set(path: array.field, to: .array(kept))
        }
        for (path, value) in updatedFields { try result.set(path: path, to: value) }
        return result.finished()
    }
}
