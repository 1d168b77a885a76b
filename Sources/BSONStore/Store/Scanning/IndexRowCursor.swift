/// A cursor over the rows that the keys of an index point to.
final class IndexRowCursor {
    private let statement: SQLiteStatement
    private var ranges: ArraySlice<IndexScan.Range>
    private var isRunning = false

    /// Begins before the first of some ordered ranges.
    init(
        _ scan: IndexScan, _ ranges: [IndexScan.Range], _ connection: SQLiteConnection
    ) throws(StoreError) {
        statement = try scan.index.prepare(scan.isReversed ? .backward : .forward, connection)
        self.ranges = scan.isReversed ? ranges.reversed()[...] : ranges[...]
    }

    /// Returns the next row; `nil` at the end.
    func next() throws(StoreError) -> Int64? {
        while true {
            if isRunning {
                if try statement.step() { return statement.int64(0) }
                statement.reset()
                isRunning = false
            }
            guard let range = ranges.popFirst() else { return nil }
            statement.bind(1, range.lower)
            statement.bind(2, range.upper)
            isRunning = true
        }
    }
}

/// The rows of several cursors, each in the order of a sort, merged in that order.
struct MergedRows {
    /// The next row of a cursor with its place in the order.
    private struct Head {
        let cursor: IndexRowCursor
        let place: Int
        let row: Int64
        let key: [UInt8]
    }

    private let sort: SortOrder
    private let document: (Int64) throws(StoreError) -> BSONDocument
    private var heads: [Head] = []

    /// Merges cursors; the closure reads the document of a row.
    init(
        _ cursors: [IndexRowCursor], _ sort: SortOrder,
        _ document: @escaping (Int64) throws(StoreError) -> BSONDocument
    ) throws(StoreError) {
        self.sort = sort
        self.document = document
        for (place, cursor) in cursors.enumerated() { try advance(cursor, place) }
    }

    /// Returns the next row; `nil` at the end.
    ///
    /// A row that several cursors reach is returned several times.
    mutating func next() throws(StoreError) -> Int64? {
        guard let head = heads.popLast() else { return nil }
        try advance(head.cursor, head.place)
        return head.row
    }

    /// Inserts a cursor's next row into the heads, which are in descending order.
    private mutating func advance(
        _ cursor: IndexRowCursor, _ place: Int
    ) throws(StoreError) {
        guard let row = try cursor.next() else { return }
        let key = sort.key(of: try document(row))
        let head = Head(cursor: cursor, place: place, row: row, key: key)
        var low = 0
        var high = heads.count
        while low < high {
            let middle = (low + high) / 2
            if Self.precedes(head, heads[middle]) { low = middle + 1 } else { high = middle }
        }
        heads.insert(head, at: low)
    }

    private static func precedes(_ left: Head, _ right: Head) -> Bool {
        left.key == right.key
            ? left.place < right.place : left.key.lexicographicallyPrecedes(right.key)
    }
}
