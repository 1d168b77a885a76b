/// The different values at a path in documents.
package struct DistinctValues {
    private let path: FieldPath
    private let collation: Collation?
    private var seen: Set<[UInt8]> = []
    /// The values in the order of their first occurrence.
    private var values: [BSONValue] = []
    private let holding = MemoryHolding.begin("distinct")
    private var uncounted = 0

    /// Creates a collection for a dotted path; texts that the collation treats as equal are one
    /// value.
    ///
    /// - Throws: 40352 or another error with MongoDB's text for an invalid path.
    package init(_ field: String, collation: Collation? = nil) throws(StoreError) {
        path = FieldPath(parts: try ExpressionPath(field).parts)
        self.collation = collation
    }

    /// Adds the values of a document in these bytes; an array adds its members.
    package mutating func insert(_ document: UnsafeRawBufferPointer) {
        var found: [BSONValue] = []
        PathTraversal.visit(path.parts[...], document: document) { value in
            // An empty array adds no value.
            guard let value, value.count > 0 || value.type != .undefined else { return }
            found.append(BSONValue(copying: value))
        }
        for value in found {
            let key = BSONKey.encode(collation?.key(value) ?? value)
            guard seen.insert(key).inserted else { continue }
            values.append(value.compacted())
            uncounted += key.count + BSONWriter.count(value) + 128
        }
    }

    /// The number of different values.
    package var count: Int { values.count }

    /// The values in ascending order.
    ///
    /// - Throws: the error of the time limit.
    package func sorted() throws(StoreError) -> [BSONValue] {
        let sorted = values.sorted {
            WorkBudget.isOver() ? false : collation.compare($0, $1) == .less
        }
        try WorkBudget.check()
        return sorted
    }

    /// Counts the memory of the values that were added since the last call.
    ///
    /// - Throws: 292 if the command's memory exceeds its limit.
    package mutating func countMemory() throws(StoreError) {
        try holding?.add(uncounted)
        uncounted = 0
    }
}
