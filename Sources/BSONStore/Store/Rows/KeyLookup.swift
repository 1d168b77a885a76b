/// A collector of the documents found by their keys.
struct KeyLookup {
    private var batch = BSONDocumentBatch()
    /// For each key, whether a document exists, and its row where rows are wanted.
    private var areThere: [Bool] = []
    private var rows: [(row: Int64, change: Int64)] = []
    private var byteCount = 0
    private let bytesMax: Int
    private let rowsWanted: Bool
    /// The column of the checksum; `nil` when checksums are not verified.
    private var checked: (column: Int32, connection: SQLiteConnection)?

    init(bytesMax: Int, rowsWanted: Bool) {
        self.bytesMax = bytesMax
        self.rowsWanted = rowsWanted
    }

    /// Verifies each document's checksum from now on.
    mutating func check(column: Int32, _ connection: SQLiteConnection) {
        checked = (column, connection)
    }

    consuming func documents() -> [BSONDocument?] {
        var documents = batch.finish().makeIterator()
        return areThere.map { $0 ? documents.next() : nil }
    }

    consuming func stored() -> [StoredDocument?] {
        var documents = zip(rows, batch.finish()).makeIterator()
        return areThere.map { isThere in
            isThere ? documents.next().map { Self.stored($0.0, $0.1) } : nil
        }
    }

    private static func stored(
        _ place: (row: Int64, change: Int64), _ document: BSONDocument
    ) -> StoredDocument {
        StoredDocument(row: place.row, document: document, change: place.change)
    }

    /// Seeks each key.
    mutating func lookUp(
        _ ids: [BSONValue], _ statement: borrowing SQLiteStatement, _ table: CollectionTable
    ) throws(StoreError) {
        areThere.reserveCapacity(ids.count)
        for id in ids {
            if byteCount >= bytesMax { break }
            try BSONKey.lend(id) { (key) throws(StoreError) in
                statement.bind(1, lending: key)
                let isThere = try statement.step()
                if isThere { try take(statement, key, table) }
                areThere.append(isThere)
            }
            statement.reset()
        }
    }

    /// Walks over the index from the first key on, at half the cost of seeking each key; seeks
    /// across long runs of unwanted keys.
    mutating func walk(
        _ keys: AscendingKeys, _ statement: borrowing SQLiteStatement,
        _ table: CollectionTable
    ) throws(StoreError) {
        var walk = KeyWalk()
        try keys.forEach { (key) throws(StoreError) in
            if byteCount >= bytesMax { return false }
            let isThere = try walk.find(key, statement)
            if isThere { try take(statement, key, table) }
            areThere.append(isThere)
            return true
        }
    }

    private mutating func take(
        _ statement: borrowing SQLiteStatement, _ key: UnsafeRawBufferPointer,
        _ table: CollectionTable
    ) throws(StoreError) {
        if rowsWanted { rows.append((statement.int64(0), statement.int64(3))) }
        var checksum: Int64?
        if let checked { checksum = DocumentChecksum.read(statement, checked.column) }
        try statement.withBytes(1) { (bytes) throws(StoreError) in
            guard BSONValidator.isValid(bytes) else {
                throw StoredDocument.damaged(key: Array(key), of: table)
            }
            if let checked, !DocumentChecksum.fits(bytes, checksum) {
                let id = BSONKey.decode(Array(key))
                throw StoredDocument.altered(id: id, of: table, checked.connection)
            }
            batch.append(bytes)
            byteCount += bytes.count
        }
    }
}

/// A cursor that moves from key to key of an index, stepping while they lie close together.
private struct KeyWalk {
    private enum Place {
        case unknown
        /// The statement is on a row whose key is not less than the last one sought.
        case row
        case end
    }

    /// The largest number of unwanted rows to step over before seeking.
    private static let patienceMax = 2

    private var place = Place.unknown
    private var patience = patienceMax

    /// Whether a key exists, which leaves the statement on its row; keys must be ascending.
    mutating func find(
        _ key: UnsafeRawBufferPointer, _ statement: borrowing SQLiteStatement
    ) throws(StoreError) -> Bool {
        var steps = 0
        var isSought = false
        while true {
            switch place {
            case .end: return false
            case .unknown:
                statement.reset()
                statement.bind(1, lending: key)
                isSought = true
            case .row:
                switch statement.withBytes(2, { BSONOrder.compareBytes($0, key) }) {
                case .equal:
                    if !isSought { patience = Self.patienceMax }
                    return true
                case .greater: return false
                case .less: break
                }
                if steps > patience {
                    patience = max(0, patience - 1)
                    place = .unknown
                    continue
                }
            }
            steps += 1
            place = try statement.step() ? .row : .end
        }
    }
}
