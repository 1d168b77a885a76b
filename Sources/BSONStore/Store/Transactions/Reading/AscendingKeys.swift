extension ReadTransaction {
    /// Returns the documents with these ids, in the order of the ids; `nil` for each missing one.
    ///
    /// - Throws: `corrupt` naming the first document whose bytes are not valid BSON.
    public func getMany(
        _ namespace: Namespace, ids: some Sequence<BSONValue>
    ) throws(StoreError) -> [BSONDocument?] {
        try getFirst(namespace, ids: Array(ids), bytesMax: .max)
    }

    /// Reads documents as ``getMany(_:ids:)`` does until they reach a number of bytes.
    ///
    /// - Throws: as ``getMany(_:ids:)`` does.
    package func getFirst(
        _ namespace: Namespace, ids: [BSONValue], bytesMax: Int
    ) throws(StoreError) -> [BSONDocument?] {
        if let gate = gate(namespace) {
            var documents: [BSONDocument?] = []
            var byteCount = 0
            for id in ids where byteCount < bytesMax {
                let document = try visible(namespace, id: id, gate)
                byteCount += document?.byteCount ?? 0
                documents.append(document)
            }
            return documents
        }
        let found = try onTable(namespace) { (table) throws(StoreError) in
            try documents(ids, bytesMax: bytesMax, in: table)
        }
        return found ?? ids.map { _ in nil }
    }

    fileprivate func documents(
        _ ids: [BSONValue], bytesMax: Int, in table: CollectionTable, isChecked: Bool = false
    ) throws(StoreError) -> [BSONDocument?] {
        var found = KeyLookup(bytesMax: bytesMax, rowsWanted: false)
        if let keys = AscendingKeys(ids) {
            if isChecked { found.check(column: 3, connection) }
            let kind = isChecked ? CollectionTable.Statement.getFromChecked : .getFrom
            try found.walk(keys, try connection.prepare(kind, table), table)
        } else {
            if isChecked { found.check(column: 2, connection) }
            let kind = isChecked ? CollectionTable.Statement.getChecked : .get
            try found.lookUp(ids, try connection.prepare(kind, table), table)
        }
        return found.documents()
    }
}

extension WriteTransaction {
    /// Reads documents as ``getFirst(_:ids:bytesMax:)`` does and verifies their checksums, so that
    /// damage does not spread to another store.
    ///
    /// - Throws: as ``getMany(_:ids:)`` does; `corrupt` for a checksum that does not match.
    package func getFirstChecked(
        _ namespace: Namespace, ids: [BSONValue], bytesMax: Int
    ) throws(StoreError) -> [BSONDocument?] {
        guard !isRestricted(namespace) else {
            return try getFirst(namespace, ids: ids, bytesMax: bytesMax)
        }
        let found = try onTable(namespace) { (table) throws(StoreError) in
            try documents(ids, bytesMax: bytesMax, in: table, isChecked: true)
        }
        return found ?? ids.map { _ in nil }
    }

    /// Returns the documents of ids in key order with their rows; `nil` when the ids must be looked
    /// up one by one.
    ///
    /// - Parameter bytesMax: the size after which to stop; the document that reaches it is
    ///   included.
    /// - Throws: as ``getMany(_:ids:)`` does.
    package func findInKeyOrder(
        _ namespace: Namespace, ids: [BSONValue], bytesMax: Int = .max
    ) throws(StoreError) -> [StoredDocument?]? {
        guard !isRestricted(namespace), let keys = AscendingKeys(ids) else { return nil }
        let found = try onTable(namespace) { (table) throws(StoreError) -> [StoredDocument?]? in
            guard table.isPlain else { return nil }
            var found = KeyLookup(bytesMax: bytesMax, rowsWanted: true)
            try found.walk(keys, try connection.prepare(.getFromToWrite, table), table)
            return found.stored()
        }
        return found ?? nil
    }
}

/// The keys of many ids in ascending order, which one walk over the index finds.
package struct AscendingKeys {
    /// The least number of ids for which a walk pays.
    private static let countMin = 8

    private var bytes: [UInt8] = []
    private var ends: [Int] = []

    /// Encodes ids as keys; `nil` when they are few or not in key order.
    package init?(_ ids: [BSONValue]) {
        guard ids.count >= Self.countMin else { return nil }
        bytes.reserveCapacity(ids.count * 16)
        ends.reserveCapacity(ids.count)
        var before = 0
        for id in ids {
            let start = bytes.count
            BSONKey.append(id, to: &bytes)
            if start > 0, !Self.isAscending(bytes, before, start) { return nil }
            before = start
            ends.append(bytes.count)
        }
    }

    /// Whether the key that begins at `middle` is greater than the key that begins at `start`.
    private static func isAscending(_ bytes: [UInt8], _ start: Int, _ middle: Int) -> Bool {
        bytes.withUnsafeBytes { bytes in
            BSONOrder.compareBytes(
                UnsafeRawBufferPointer(rebasing: bytes[start..<middle]),
                UnsafeRawBufferPointer(rebasing: bytes[middle...])) == .less
        }
    }

    /// Calls a body with each key in order; all keys stay in place until the last call ends.
    ///
    /// - Parameter body: returns false to stop.
    func forEach(
        _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Bool
    ) throws(StoreError) {
        try bytes.withLentBytes { (all) throws(StoreError) in
            var start = 0
            for end in ends {
                guard try body(UnsafeRawBufferPointer(rebasing: all[start..<end])) else { return }
                start = end
            }
        }
    }
}

/// A collector of the documents found by their keys.
private struct KeyLookup {
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
