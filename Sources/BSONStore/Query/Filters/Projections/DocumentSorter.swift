/// Collects documents and gives them back in order, the first ones only when that is enough.
struct DocumentSorter {
    /// Documents and keys that are held take at most so many bytes.
    static let bytesMax = 100 * 1024 * 1024

    private let order: SortOrder
    /// How many of the first are wanted; `nil` for all.
    private let countMax: Int?
    private var entries: [Entry] = []
    private var inserted = 0
    private var bytes = 0

    /// A document with its place in the order.
    struct Entry {
        fileprivate let key: [UInt8]
        fileprivate let index: Int
        let document: BSONDocument
        /// What `$meta` tells about it.
        let metadata: [String: BSONValue]
    }

    init(order: SortOrder, skip: Int, limit: Int) {
        self.order = order
        countMax = FindOptions.end(skip: skip, limit: limit)
    }

    /// Takes one more document.
    ///
    /// - Throws: `badValue` (2) when keys lead through different arrays; 292 when more would have to be held than the limit allows.
    mutating func insert(
        _ document: BSONDocument, metadata: [String: BSONValue] = [:]
    ) throws(StoreError) {
        try WorkBudget.spend()
        let key = try order.checkedKey(of: document, metadata: metadata)
        entries.append(
            Entry(key: key, index: inserted, document: document.compacted(), metadata: metadata))
        inserted += 1
        bytes += key.count + document.byteCount
        if let countMax, (entries.count - 1_000) / 2 >= max(1, countMax) { shorten(to: countMax) }
        guard bytes <= Self.bytesMax else {
            throw StoreError(
                .queryExceededMemoryLimitNoDiskUseAllowed,
                "Sort exceeded memory limit of \(Self.bytesMax) bytes, but did not opt in to "
                    + "external sorting.")
        }
    }

    /// The documents in order; those that compare equal keep the order in which they came.
    mutating func sorted() -> [BSONDocument] { sortedEntries().map(\.document) }

    /// As ``sorted()``, with what `$meta` tells.
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
