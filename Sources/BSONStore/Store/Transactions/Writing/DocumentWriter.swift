/// The writer of a transaction's documents, with their index keys, changes and tombstones.
///
/// It knows no access policy. Where an error leaves a part of a write, the caller undoes it.
final class DocumentWriter {
    let connection: SQLiteConnection
    /// The recorder of the transaction's changes.
    let recorder: ChangeRecorder
    /// Whether writes skip the collections' validators.
    @exclusivity(unchecked) var bypassesValidation = false
    /// Whether the sync engine writes; only the engine may write to synced collections directly.
    @exclusivity(unchecked) var isEngineWrite = false
    /// Whether a client's multi-document transaction writes, which cannot change capped collections.
    @exclusivity(unchecked) var leavesCappedAlone = false
    /// The table last found not to be synced.
    @exclusivity(unchecked) private var unsyncedTable: Int64?
    /// The cached sizes of capped collections.
    private var cappedUsage: [Int64: CappedUsage] = [:]
    private var createdTables: Set<Int64> = []
    /// The unique keys to check at the end of a part of the transaction.
    private var deferredKeys: DeferredUniqueKeys?

    init(_ connection: SQLiteConnection, _ recorder: ChangeRecorder) {
        self.connection = connection
        self.recorder = recorder
    }

    var tables: TableLookup { TableLookup(connection: connection) }
    private var rows: RowLookup { RowLookup(connection: connection, readsChanges: true) }
    private var indexes: IndexWriter {
        IndexWriter(connection: connection, deferred: deferredKeys)
    }
    private var tombstones: TombstoneTable { TombstoneTable(connection: connection) }
    private var validator: DocumentValidator {
        DocumentValidator(
            bypassesValidation: bypassesValidation, leavesCappedAlone: leavesCappedAlone)
    }

    /// Resets what one write set for itself, so that it does not affect the next one.
    func resetSettings() {
        recorder.comment = nil
        bypassesValidation = false
        isEngineWrite = false
        leavesCappedAlone = false
        // The engine may have begun to sync one of them.
        unsyncedTable = nil
    }

    /// Runs a body and undoes its changes when it throws; the transaction stays usable.
    ///
    /// - Throws: what the body throws, and SQLite's errors.
    func savepoint<R>(_ body: () throws -> R) throws -> R {
        let feedBefore = recorder.feed
        let keysBefore = deferredKeys?.entries.count ?? 0
        do {
            return try connection.savepoint(body)
        } catch {
            recorder.restore(feedBefore)
            deferredKeys?.keepFirst(keysBefore)
            connection.catalogCache.invalidateAll()
            cappedUsage.removeAll()
            throw error
        }
    }

    /// Runs a body in which writes may take unique keys that other documents still have, and
    /// returns the errors of the documents that cannot keep theirs at its end.
    ///
    /// Documents can exchange unique values so. The caller must undo the body where there are
    /// errors.
    ///
    /// - Throws: what the body throws, and SQLite's errors.
    func deferringUniqueKeys<R>(
        _ body: () throws -> R
    ) throws -> (result: R, collisions: [StoreError]) {
        let outer = deferredKeys
        let keys = DeferredUniqueKeys()
        deferredKeys = keys
        defer { deferredKeys = outer }
        let result = try body()
        let writer = indexes
        let collisions = try keys.collisions { (index, key) throws(StoreError) in
            try writer.owners(of: key, in: index)
        }
        return (
            result,
            try collisions.compactMap { entry in
                guard let found = try rows.stored(entry.table.namespace, row: entry.row) else {
                    return nil
                }
                return entry.index.duplicate(
                    of: found.document, key: entry.key, in: entry.table.namespace)
            }
        )
    }

    /// Writes a new row and its index keys, and records the change.
    func add(_ stored: StorableDocument, to table: CollectionTable) throws(StoreError) {
        try checkMayWrite(table)
        if table.isClustered { try stored.checkClusteredID(in: table.namespace) }
        try validator.check(stored.document, replacing: nil, in: table)
        let change: IndexChange
        do throws(StoreError) {
            change = try indexes.change(in: table, row: nil, from: nil, to: stored.document)
        } catch {
            // As in MongoDB, a duplicate _id is reported before other unique keys.
            if error.code == .duplicateKey, try rows.row(stored.key, in: table) != nil {
                throw stored.duplicateID(in: table, error)
            }
            throw error
        }
        let statement = try connection.prepare(.insert, table)
        do throws(StoreError) {
            try stored.key.withLentBytes { (key) throws(StoreError) in
                try stored.document.withUnsafeBytes { (bytes) throws(StoreError) in
                    statement.bind(1, lending: key)
                    statement.bind(2, lending: bytes)
                    statement.bind(3, recorder.feed.next)
                    statement.bind(4, DocumentChecksum.stored(bytes))
                    try statement.run()
                }
            }
        } catch {
            guard error.code == .duplicateKey else { throw error }
            throw stored.duplicateID(in: table, error)
        }
        let row = connection.lastInsertedRowID
        if recorder.feed.oldestTombstone != nil { try tombstones.remove(stored, in: table) }
        if !change.isEmpty { try indexes.apply(change, row: row, in: table) }
        try recorder.record(
            .insert, table.namespace, before: nil, after: stored.document,
            link: ImageLink(row: row, previous: 0))
        // Synced documents are not removed automatically.
        if !isEngineWrite, !table.isPlain, let capped = table.options.capped {
            try trim(table, capped, added: stored.document.byteCount)
        }
    }

    /// Writes new bytes into an existing row and updates its index keys; the caller records the
    /// change.
    ///
    /// - Returns: where the change finds the document.
    /// - Throws: `corrupt` when the row's checksum does not match: another change would hide the
    ///   damage.
    func rewrite(
        _ found: StoredDocument, _ document: BSONDocument, in table: CollectionTable
    ) throws(StoreError) -> ImageLink {
        try checkMayWrite(table)
        try validator.check(document, replacing: found.document, in: table)
        if !table.isPlain { cappedUsage[table.id] = nil }
        let change = try indexes.change(
            in: table, row: found.row, from: found.document, to: document)
        let link = try link(from: found, in: table)
        let statement = try connection.prepare(.updateRow, table)
        try document.withUnsafeBytes { (bytes) throws(StoreError) in
            statement.bind(1, found.row)
            statement.bind(2, lending: bytes)
            statement.bind(3, recorder.feed.next)
            statement.bind(4, DocumentChecksum.stored(bytes))
            statement.bind(5, DocumentChecksum.stored(found.document))
            try statement.run()
        }
        guard connection.changedRowCount == 1 else {
            throw StoredDocument.altered(id: found.document["_id"], of: table, connection)
        }
        try indexes.apply(change, row: found.row, in: table)
        return link
    }

    /// Returns the link from the next change of a row to the one before it.
    private func link(
        from found: StoredDocument, in table: CollectionTable
    ) throws(StoreError) -> ImageLink {
        guard recorder.isRecording else { return ImageLink(row: found.row, previous: 0) }
        if let change = found.change { return ImageLink(row: found.row, previous: change) }
        let statement = try connection.prepare(.getRowToWrite, table)
        statement.bind(1, found.row)
        defer { statement.reset() }
        return ImageLink(
            row: found.row, previous: try statement.step() ? statement.int64(2) : 0)
    }

    /// Removes a row and its index keys, and records the change.
    func delete(_ found: StoredDocument, in table: CollectionTable) throws(StoreError) {
        try checkMayWrite(table)
        let change = try indexes.change(
            in: table, row: found.row, from: found.document, to: nil)
        if !table.isPlain {
            guard !leavesCappedAlone || table.options.capped == nil else {
                throw StoreError(
                    .illegalOperation,
                    "Cannot remove from a capped collection in a multi-document transaction: "
                        + "\(table.namespace)")
            }
            cappedUsage[table.id] = nil
        }
        let link = try link(from: found, in: table)
        let statement = try connection.prepare(.deleteRow, table)
        statement.bind(1, found.row)
        try statement.run()
        try indexes.apply(change, row: found.row, in: table)
        try recorder.record(
            .delete, table.namespace, before: found.document, after: nil, link: link)
        try tombstones.record(found.document, of: table, recorder)
    }

    /// Removes the oldest documents of a capped collection until it is within its bounds.
    private func trim(
        _ table: CollectionTable, _ capped: CollectionOptions.Capped, added: Int
    ) throws(StoreError) {
        var usage: CappedUsage
        if let known = cappedUsage[table.id] {
            usage = known
            usage.add(byteCount: added)
        } else {
            usage = try CappedUsage(of: table, connection)
        }
        // The newest document stays, even if it alone exceeds the bounds.
        while usage.exceeds(capped), usage.count > 1 {
            guard let oldest = try CappedUsage.oldest(in: table, connection) else { break }
            try delete(oldest, in: table)
            usage.remove(oldest.document)
        }
        cappedUsage[table.id] = usage
    }
}

// MARK: - Documents of a collection

extension DocumentWriter {
    /// Adds a document to a collection, which is created when missing, and records the change.
    func insert(_ stored: StorableDocument, _ namespace: Namespace) throws(StoreError) {
        try onTableForWriting(namespace) { (table) throws(StoreError) in
            try add(stored, to: table)
        }
    }

    /// Stores a document under its `_id`, replacing an existing one.
    func put(
        _ stored: StorableDocument, _ namespace: Namespace
    ) throws(StoreError) -> DocumentImages {
        let before = try onTableForWriting(namespace) {
            (table) throws(StoreError) -> BSONDocument? in
            guard let found = try rows.row(stored.key, in: table) else {
                try add(stored, to: table)
                return nil
            }
            if found.document != stored.document {
                let link = try rewrite(found, stored.document, in: table)
                try recorder.record(
                    .replace, namespace, before: found.document, after: stored.document, link: link)
            }
            return found.document
        }
        return DocumentImages(before: before, after: stored.document)
    }

    /// Replaces a document that this transaction has read and not written since, and records the
    /// change.
    func replace(
        _ found: StoredDocument, by document: BSONDocument, in namespace: Namespace,
        as kind: StoreChange.Kind, remarks: BSONDocument? = nil
    ) throws(StoreError) {
        try onTableForWriting(namespace) { (table) throws(StoreError) in
            let link = try rewrite(found, document, in: table)
            try recorder.record(
                kind, namespace, before: found.document, after: document, link: link,
                remarks: remarks)
        }
    }

    /// Removes the document with an id and returns it, or `nil`.
    func remove(_ namespace: Namespace, id: BSONValue) throws(StoreError) -> BSONDocument? {
        let key = BSONKey.encode(id)
        let taken = try tables.onTable(namespace) { (table) throws(StoreError) -> BSONDocument? in
            guard let found = try rows.row(key, in: table) else { return nil }
            try delete(found, in: table)
            return found.document
        }
        return taken ?? nil
    }

    /// Removes a document that this transaction has read.
    func remove(_ found: StoredDocument, from namespace: Namespace) throws(StoreError) {
        _ = try tables.onTable(namespace) { (table) throws(StoreError) in
            try delete(found, in: table)
        }
    }

    /// Adds new documents, several per statement where only their ids must be checked: beginning
    /// and ending a statement costs as much as a row.
    func insertBatch(_ stored: [StorableDocument], _ namespace: Namespace) throws(StoreError) {
        try onTableForWriting(namespace) { (table) throws(StoreError) in
            try checkMayWrite(table)
            var rest = stored[...]
            if try canAddTogether(to: table) {
                try add(&rest, by: .insertEight, count: 8, to: table)
                try add(&rest, by: .insertTwo, count: 2, to: table)
            }
            for document in rest { try add(document, to: table) }
        }
    }

    /// Whether a duplicate id is the only reason to refuse a document.
    private func canAddTogether(to table: CollectionTable) throws(StoreError) -> Bool {
        guard table.isPlain else { return false }
        return try tables.indexes(of: table).isEmpty
    }

    private func add(
        _ rest: inout ArraySlice<StorableDocument>, by statement: CollectionTable.Statement,
        count: Int, to table: CollectionTable
    ) throws(StoreError) {
        while rest.count >= count {
            let insertion = try connection.prepare(statement, table)
            try run(insertion, rest.prefix(count), 1, recorder.feed.next)
            // Row numbers are consecutive, except the highest possible ones.
            var row = connection.lastInsertedRowID - Int64(count)
            for document in rest.prefix(count) {
                row += 1
                try recorder.record(
                    .insert, table.namespace, before: nil, after: document.document,
                    link: ImageLink(row: row, previous: 0))
                if recorder.feed.oldestTombstone != nil {
                    try tombstones.remove(document, in: table)
                }
            }
            rest = rest.dropFirst(count)
        }
    }

    /// Binds documents from a parameter on, each while the earlier ones stay in place, and runs the
    /// statement.
    private func run(
        _ statement: borrowing SQLiteStatement, _ rest: ArraySlice<StorableDocument>,
        _ parameter: Int32, _ change: Int64
    ) throws(StoreError) {
        guard let next = rest.first else { return try statement.run() }
        try next.key.withLentBytes { (key) throws(StoreError) in
            try next.document.withUnsafeBytes { (bytes) throws(StoreError) in
                statement.bind(parameter, lending: key)
                statement.bind(parameter + 1, lending: bytes)
                statement.bind(parameter + 2, change)
                statement.bind(parameter + 3, DocumentChecksum.stored(bytes))
                try run(
                    statement, rest.dropFirst(), parameter + 4, change == 0 ? 0 : change + 1)
            }
        }
    }
}

// MARK: - Collections

extension DocumentWriter {
    /// Refuses writes to a synced collection, except those of the sync engine.
    ///
    /// The engine would miss the write: a delete would look like damage, and a change would never
    /// be sent.
    ///
    /// - Throws: `illegalOperation` (20), which names the right call.
    func checkMayWrite(_ table: CollectionTable) throws(StoreError) {
        guard !isEngineWrite, unsyncedTable != table.id else { return }
        try checkMayWrite(table.namespace)
        unsyncedTable = table.id
    }

    /// Refuses to drop, rename or fill a synced collection, unless the sync engine does it.
    ///
    /// - Throws: `illegalOperation` (20), which names the right call.
    func checkMayWrite(_ namespace: Namespace) throws(StoreError) {
        guard !isEngineWrite else { return }
        try SyncedCollections(connection: connection).checkIsFree(namespace)
    }

    /// Runs a body on the collection's table, which is created when missing.
    func onTableForWriting<R>(
        _ namespace: Namespace, _ body: (CollectionTable) throws(StoreError) -> R
    ) throws(StoreError) -> R {
        if let result = try tables.onTable(namespace, body) { return result }
        return try body(try makeTable(namespace, .none))
    }

    /// Creates a collection or view and records it in the feed.
    func makeTable(
        _ namespace: Namespace, _ options: CollectionOptions
    ) throws(StoreError) -> CollectionTable {
        let table = try Catalog.create(namespace, options, connection)
        invalidateTables()
        createdTables.insert(table.id)
        try recorder.record(.create, table, options.description)
        return table
    }

    /// Whether this transaction created the collection.
    func hasCreated(_ namespace: Namespace) throws(StoreError) -> Bool {
        try tables.table(namespace).map { createdTables.contains($0.id) } ?? false
    }

    /// Discards cached tables after this transaction created one.
    func invalidateTables() { connection.catalogCache.forgetTables() }

    /// Forgets a table that this transaction dropped or renumbered.
    func abandon(_ table: CollectionTable) {
        cappedUsage[table.id] = nil
        connection.catalogCache.forget(table.id)
        invalidateTables()
    }
}
