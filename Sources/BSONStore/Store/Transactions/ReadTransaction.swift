/// A snapshot of the store for reading; valid only in the body that receives it.
///
/// One thread uses a transaction. Properties with `@exclusivity(unchecked)` are used for each
/// document, and no access to one calls back into the transaction: the runtime's checks would cost
/// an insert a twentieth of its time.
public class ReadTransaction {
    /// The connection, also for the sync engine's tables in the same file and transaction.
    package let connection: SQLiteConnection
    private(set) var isOpen = true
    /// The policy that limits reads and writes; `nil` for full access.
    @exclusivity(unchecked) package var accessPolicy: (any AccessPolicy)?
    /// The most recently used table; most transactions use one.
    @exclusivity(unchecked) private(set) var lastTable: CollectionTable?
    /// Whether a row is read together with its latest change; files of earlier versions lack it.
    var readsChanges: Bool { false }
    /// How many views are being read, one inside the other.
    var viewDepth = 0

    init(connection: SQLiteConnection, lastTable: CollectionTable?) {
        self.connection = connection
        self.lastTable = lastTable
    }

    /// Returns the document with an id, or `nil`; O(log n).
    ///
    /// - Throws: `corrupt` naming the document when its bytes are not valid BSON, and SQLite's
    ///   errors.
    public func get(_ namespace: Namespace, id: BSONValue) throws(StoreError) -> BSONDocument? {
        if let gate = gate(namespace) { return try visible(namespace, id: id, gate) }
        return try BSONKey.lend(id) { (key) throws(StoreError) -> BSONDocument? in
            let found = try onTable(namespace) { (table) throws(StoreError) -> BSONDocument? in
                try row(lent: key, table)?.document
            }
            return found ?? nil
        }
    }

    /// Returns the document with an id as the access policy shows it, and its stored row.
    ///
    /// - Throws: as ``get(_:id:)`` does.
    package func found(
        _ namespace: Namespace, id: BSONValue
    ) throws(StoreError) -> StoredDocument? {
        let found = try stored(namespace, id: id)
        guard let found, let gate = gate(namespace) else { return found }
        return visible(found.document, gate).map { StoredDocument(row: found.row, document: $0) }
    }

    /// Whether a collection has no documents or does not exist.
    ///
    /// - Throws: SQLite's errors.
    package func isEmpty(_ namespace: Namespace) throws(StoreError) -> Bool {
        if let gate = gate(namespace) { return try countVisible(namespace, gate) == 0 }
        return try onTable(namespace) { (table) throws(StoreError) in
            let statement = try connection.prepare(.scanRows, table)
            return try !statement.step()
        } ?? true
    }

    /// Returns how many documents a collection has, 0 when it does not exist; O(n) in index
    /// entries.
    public func count(_ namespace: Namespace) throws(StoreError) -> Int {
        if let gate = gate(namespace) { return try countVisible(namespace, gate) }
        let count = try onTable(namespace) { (table) throws(StoreError) in
            let statement = try connection.prepare(.count, table)
            return try statement.step() ? statement.int64(0) : 0
        }
        return Int(count ?? 0)
    }

    /// Returns the collections of the file in order of creation.
    ///
    /// - Throws: SQLite's errors.
    public func collections() throws(StoreError) -> [Namespace] {
        let statement = try connection.prepare(
            "SELECT database, name FROM store_collections ORDER BY id")
        var names: [Namespace] = []
        while try statement.step() {
            names.append(Namespace(statement.string(0), statement.string(1)))
        }
        return names
    }

    /// Marks the transaction as ended; later calls fail.
    func finish() { isOpen = false }

    /// Runs a body on the collection's table; returns `nil` when it does not exist.
    func onTable<R>(
        _ namespace: Namespace, _ body: (CollectionTable) throws(StoreError) -> R
    ) throws(StoreError) -> R? {
        precondition(isOpen, "a transaction is used outside of the body that it was given to")
        if let lastTable, lastTable.namespace == namespace { return try body(lastTable) }
        guard let table = try collectionTable(namespace) else { return nil }
        try connection.catalogCache.probe(table, connection)
        lastTable = table
        return try body(table)
    }

    /// Returns the collection's table as this transaction sees it.
    func collectionTable(_ namespace: Namespace) throws(StoreError) -> CollectionTable? {
        try connection.catalogCache.table(namespace, connection)
    }

    /// Forgets the cached table, which may have been dropped.
    func forgetLastTable() { lastTable = nil }

    /// Returns the row and the document with an id key; the key must stay in place during the call.
    func row(
        lent key: UnsafeRawBufferPointer, _ table: CollectionTable
    ) throws(StoreError) -> StoredDocument? {
        let statement = try connection.prepare(readsChanges ? .getToWrite : .get, table)
        statement.bind(1, lending: key)
        guard try statement.step() else { return nil }
        let row = statement.int64(0)
        let change = readsChanges ? statement.int64(2) : nil
        return try statement.withBytes(1) { (bytes) throws(StoreError) in
            guard BSONValidator.isValid(bytes) else {
                throw StoredDocument.damaged(key: Array(key), of: table)
            }
            return StoredDocument(
                row: row, document: BSONDocument(unchecked: Array(bytes)), change: change)
        }
    }
}
