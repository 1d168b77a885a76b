/// A sorter of documents that keeps only the first ones if that is enough.
package struct DocumentSorter {
    /// The maximum size in memory of documents and keys, in bytes.
    package static let bytesMax = 100 * 1024 * 1024

    private let order: SortOrder
    /// The number of documents to return; `nil` for all.
    private let countMax: Int?
    private var entries: [Entry] = []
    private var inserted = 0
    private var bytes = 0
    private let bytesMax: Int
    private let holding: MemoryHolding?

    /// A document with its place in the order.
    struct Entry {
        fileprivate let key: [UInt8]
        fileprivate let index: Int
        let document: BSONDocument
        /// The values of `$meta` for the document.
        let metadata: [String: BSONValue]
    }

    package init(order: SortOrder, skip: Int, limit: Int, bytesMax: Int = Self.bytesMax) {
        self.order = order
        self.bytesMax = bytesMax
        countMax = FindOptions.end(skip: skip, limit: limit)
        holding = .begin("a sort")
    }

    /// Adds a document.
    ///
    /// - Throws: `badValue` (2) if keys lead through different arrays; 292 if the documents exceed
    ///   the memory limit.
    package mutating func insert(
        _ document: BSONDocument, metadata: [String: BSONValue] = [:]
    ) throws(StoreError) {
        try WorkBudget.spend()
        let key = try order.checkedKey(of: document, metadata: metadata)
        entries.append(
            Entry(key: key, index: inserted, document: document.compacted(), metadata: metadata))
        inserted += 1
        let before = bytes
        bytes += key.count + document.byteCount
        if let countMax, (entries.count - 1_000) / 2 >= max(1, countMax) { shorten(to: countMax) }
        var most = bytesMax
        if let countMax, bytes > bytesMax, entries.count > countMax {
            shorten(to: countMax)
            // Nearly full, it would be sorted again for each further document.
            most -= bytesMax / 16
        }
        guard bytes <= most else {
            throw StoreError(
                .queryExceededMemoryLimitNoDiskUseAllowed,
                "Sort exceeded memory limit of \(bytesMax) bytes, but did not opt in to "
                    + "external sorting.")
        }
        try holding?.add(bytes - before)
    }

    /// Returns the documents in order; the sort is stable.
    package mutating func sorted() -> [BSONDocument] { sortedEntries().map(\.document) }

    /// Returns the documents as ``sorted()``, with their values of `$meta`.
    mutating func sortedEntries() -> [Entry] {
        shorten(to: countMax ?? entries.count)
        return entries
    }

    private mutating func shorten(to count: Int) {
        let reverses = order.reversesInsertion
        entries.sort { left, right in
            if WorkBudget.isOver() { return false }
            return left.key == right.key
                ? (left.index < right.index) != reverses
                : left.key.lexicographicallyPrecedes(right.key)
        }
        if entries.count > count { entries.removeSubrange(count...) }
        bytes = entries.reduce(0) { $0 + $1.key.count + $1.document.byteCount }
    }
}
