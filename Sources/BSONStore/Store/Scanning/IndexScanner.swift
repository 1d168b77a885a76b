/// A reader of the documents that the keys of indexes point to.
struct IndexScanner {
    /// The transaction's connection.
    let connection: SQLiteConnection

    /// Calls a body with each matching document of an index scan, and its row if wanted, until the
    /// body returns false.
    func scan(
        _ scan: IndexScan, _ table: CollectionTable, _ filter: Filter, _ sort: SortOrder?,
        withRows: Bool, _ body: (Int64, UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) {
        if let sort, scan.isMerged { return try merge([scan], sort, table, filter, body) }
        guard scan.mayRepeat else {
            return try scanOnce(scan, table, withRows: withRows) {
                (row, bytes) throws(StoreError) -> Bool in
                guard BSONValidator.isValid(bytes) else {
                    throw try damaged(scan, table)
                }
                guard scan.isExact else {
                    return try filter.evaluate(bytes) ? try body(row, bytes) : true
                }
                return try body(row, bytes)
            }
        }
        let cursor = try IndexRowCursor(scan, scan.ranges, connection)
        try readRows(table, filter, body) { () throws(StoreError) in
            try cursor.next()
        }
    }

    /// Calls a body with the unchecked documents of an index with one key each; with empty bytes
    /// where a key points to no document.
    @inline(__always)
    private func scanOnce(
        _ scan: IndexScan, _ table: CollectionTable, withRows: Bool,
        _ body: (Int64, UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) {
        let kind: StoredIndex.Statement =
            switch (scan.isReversed, withRows) {
            case (false, false): .forwardDocuments
            case (true, false): .backwardDocuments
            case (false, true): .forwardBoth
            case (true, true): .backwardBoth
            }
        let statement = try scan.index.prepare(kind, connection)
        for range in scan.isReversed ? scan.ranges.reversed() : scan.ranges {
            statement.bind(1, range.lower)
            statement.bind(2, range.upper)
            while try statement.step() {
                let goesOn = try statement.withBytes(0) { (bytes) throws(StoreError) -> Bool in
                    try body(withRows ? statement.int64(1) : 0, bytes)
                }
                guard goesOn else { return }
            }
            statement.reset()
        }
    }

    /// Returns the error for the first invalid or missing document of a scan.
    private func damaged(
        _ scan: IndexScan, _ table: CollectionTable
    ) throws(StoreError) -> StoreError {
        var error = StoredDocument.damaged
        try scanOnce(scan, table, withRows: true) { (row, bytes) throws(StoreError) in
            guard !BSONValidator.isValid(bytes) else { return true }
            error = try RowReader.damaged(row, isThere: !bytes.isEmpty, table, connection)
            return false
        }
        return error
    }

    /// Calls a body once with each matching document of several scans in a sort order that all of
    /// them share, until the body returns false.
    func merge(
        _ scans: [IndexScan], _ sort: SortOrder, _ table: CollectionTable, _ filter: Filter,
        _ body: (Int64, UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) {
        var cursors: [IndexRowCursor] = []
        for scan in scans {
            guard scan.isMerged else {
                cursors.append(try IndexRowCursor(scan, scan.ranges, connection))
                continue
            }
            for group in scan.groups {
                cursors.append(try IndexRowCursor(scan, group, connection))
            }
        }
        let reader = try RowReader(table, connection)
        var rows = try MergedRows(cursors, sort) { (row) throws(StoreError) in
            try reader.document(row)
        }
        try readRows(table, filter, body) { () throws(StoreError) in
            try rows.next()
        }
    }

    /// Calls a body once with each matching document of some rows until the body returns false.
    private func readRows(
        _ table: CollectionTable, _ filter: Filter,
        _ body: (Int64, UnsafeRawBufferPointer) throws(StoreError) -> Bool,
        _ next: () throws(StoreError) -> Int64?
    ) throws(StoreError) {
        var seen: Set<Int64> = []
        let documents = try connection.prepare(.getRow, table)
        while let row = try next() {
            guard seen.insert(row).inserted else { continue }
            documents.bind(1, row)
            guard try documents.step() else { throw RowReader.dangling(table) }
            let goesOn = try documents.withBytes(1) { (bytes) throws(StoreError) -> Bool in
                try StoredDocument.check(bytes, key: documents, 0, of: table)
                return try filter.evaluate(bytes) ? try body(row, bytes) : true
            }
            documents.reset()
            guard goesOn else { return }
        }
    }
}

// MARK: - Covered answers

extension IndexScanner {
    /// Returns how many documents have a key in an exact scan, without reading them.
    func count(_ scan: IndexScan) throws(StoreError) -> Int {
        var count: Int64 = 0
        for group in scan.groups {
            for range in group {
                let statement = try scan.index.prepare(
                    scan.index.isMultikey ? .countRows : .count, connection)
                statement.bind(1, range.lower)
                statement.bind(2, range.upper)
                if !scan.index.isMultikey { statement.bind(3, Int64.max) }
                if try statement.step() { count += statement.int64(0) }
            }
        }
        return Int(count)
    }

    /// Collects the values of a field from one document per value.
    func distinct(
        _ table: CollectionTable, _ scan: IndexScan, into values: inout DistinctValues
    ) throws(StoreError) {
        let reader = try RowReader(table, connection)
        let first = try scan.index.prepare(.first, connection)
        for range in scan.ranges {
            var lower = range.lower
            while true {
                first.bind(1, lower)
                first.bind(2, range.upper)
                guard try first.step() else { break }
                let document = try reader.document(first.int64(0))
                first.reset()
                let prefix = scan.index.prefix(of: document)
                let next = IndexBounds.successor(prefix)
                guard lower.lexicographicallyPrecedes(next) else {
                    throw StoreError(
                        .corrupt,
                        "A key of index \(scan.index.definition.name) is not its document's",
                        namespace: table.namespace)
                }
                lower = next
                if prefix == scan.index.missingPrefix {
                    let same = IndexScan.Range(lower: prefix, upper: lower)
                    try collectNull(IndexRowCursor(scan, [same], connection), reader, &values)
                } else {
                    document.withUnsafeBytes { values.insert($0) }
                    try values.countMemory()
                }
            }
            first.reset()
        }
    }

    /// Looks among documents with a null key for one whose value is null rather than missing.
    private func collectNull(
        _ rows: IndexRowCursor, _ reader: RowReader, _ values: inout DistinctValues
    ) throws(StoreError) {
        let before = values.count
        while let row = try rows.next(), values.count == before {
            try reader.document(row).withUnsafeBytes { values.insert($0) }
        }
    }
}

extension StoredIndex {
    /// The prefix of the keys of documents that lack the first field.
    fileprivate var missingPrefix: [UInt8] { prefix(of: BSONValue.null) }

    /// Returns the key prefix of documents with the same first value.
    fileprivate func prefix(of document: BSONDocument) -> [UInt8] {
        prefix(of: definition.keys.first.flatMap { document[path: $0.path] } ?? .null)
    }

    private func prefix(of value: BSONValue) -> [UInt8] {
        let key = BSONKey.encode(collation?.key(value) ?? value)
        return definition.keys.first?.kind == .descending ? key.map { ~$0 } : key
    }
}
