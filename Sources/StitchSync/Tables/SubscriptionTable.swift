internal import BSONStore

/// The tables of subscription sets in the store's file.
struct SubscriptionTable {
    let connection: SQLiteConnection
    let cache: SubscriptionCache

    /// The progress of a set's download.
    struct Progress: Sendable, Hashable {
        /// The index of the current query among the set's new ones.
        var query = 0
        /// The `_id` of the last document read by the query.
        var last: BSONValue?
        /// The number of documents read by the query.
        var read = 0
    }

    /// The columns of a set, in the order in which statements select them.
    private enum Column: Int32, SyncColumn {
        case version
        case state
        case error
        case content
    }

    /// Returns the sets that are not superseded.
    func history() throws -> SubscriptionHistory {
        let select = try connection.prepare(
            "SELECT version, state, error, content FROM sync_sets ORDER BY version")
        var sets: [SubscriptionSet] = []
        while try select.step() {
            var set = try cache.set(
                select.int64(Column.version), select.bytes(Column.content))
            // An error that is NULL reads as an empty text.
            set.state = try Self.state(
                select.int64(Column.state), select.string(Column.error))
            sets.append(set)
        }
        // Before any set is complete, the empty one is active.
        return SubscriptionHistory(
            kept: sets.first?.state == .complete ? sets : [.first] + sets)
    }

    /// Returns whether a set waits for its documents; reads one row of a small table.
    func isSetWaiting() throws -> Bool {
        let select = try connection.prepare(
            "SELECT 1 FROM sync_sets WHERE state < \(Self.complete) LIMIT 1")
        return try select.step()
    }

    /// Returns whether a set of a store waits for the remote's answer.
    static func isSetWaiting(
        in store: DocumentStore, _ sets: SubscriptionCache
    ) throws -> Bool {
        try store.read { transaction in
            try SubscriptionTable(connection: transaction.connection, cache: sets).isSetWaiting()
        }
    }

    /// Returns whether any stored set, answered or not, has a subscription on a collection.
    func hasSubscription(on namespace: Namespace) throws -> Bool {
        try history().sets.contains { $0.asks(of: namespace) }
    }

    /// Stores a committed set, and the list of pending writes before it.
    func add(_ set: SubscriptionSet) throws {
        let insert = try connection.prepare(
            "INSERT INTO sync_sets(version, state, content) VALUES (?1, ?2, ?4)")
        insert.bind(Column.version, set.version)
        insert.bind(Column.state, Self.number(of: set.state).state)
        insert.bind(Column.content, set.document)
        try insert.run()
        try run(
            """
            INSERT OR IGNORE INTO sync_earlier SELECT id, ? FROM sync_documents
            WHERE pending = 1
                AND collection IN (SELECT id FROM sync_collections WHERE subscribed = 1)
            """, set.version)
    }

    /// Stores the states of the sets and removes superseded ones.
    func save(_ history: SubscriptionHistory) throws {
        try run("DELETE FROM sync_sets WHERE version < ?", history.sets[0].version)
        let update = try connection.prepare(
            "UPDATE sync_sets SET state = ?2, error = ?3 WHERE version = ?1")
        for set in history.sets where set.version > 0 {
            let (state, error) = Self.number(of: set.state)
            update.bind(Column.state, state)
            update.bind(Column.error, error)
            update.bind(Column.version, set.version)
            try update.run()
        }
    }

    func run(_ sql: String, _ values: Int64...) throws {
        let statement = try connection.prepare(sql)
        for (index, value) in values.enumerated() { statement.bind(Int32(index + 1), value) }
        try statement.run()
    }
}

// MARK: - Order

extension SubscriptionTable {
    /// Returns the record rows of the writes before a set, uploaded meanwhile or not.
    func earlierRows(before version: Int64) throws -> Set<Int64> {
        let select = try connection.prepare(
            "SELECT document FROM sync_earlier WHERE version <= ?")
        select.bind(1, version)
        var rows: Set<Int64> = []
        while try select.step() { rows.insert(select.int64(0)) }
        return rows
    }

    /// Returns the first set that a pending write precedes.
    ///
    /// Paused documents and those with a foreign version field do not delay a set.
    func firstHeldUp() throws -> Int64? {
        let select = try connection.prepare(
            "SELECT document, version FROM sync_earlier ORDER BY version")
        let records = SyncRecordTable(connection: connection)
        while try select.step() {
            guard let record = try records.entry(inRow: select.int64(0))?.record else { continue }
            let isForeign = if case .foreign = record.version { true } else { false }
            if record.pause == nil && !isForeign && (record.isPending || record.attempt != nil) {
                return select.int64(1)
            }
        }
        return nil
    }

    /// Removes the list of writes before an answered set.
    func removeEarlier(upTo version: Int64) throws {
        try run("DELETE FROM sync_earlier WHERE version <= ?", version)
    }
}

// MARK: - Documents that are coming in

extension SubscriptionTable {
    func progress(of version: Int64) throws -> Progress {
        let select = try connection.prepare("SELECT progress FROM sync_sets WHERE version = ?")
        select.bind(1, version)
        guard try select.step(), !select.isNull(0) else { return Progress() }
        let document = try select.document(at: 0, named: "progress")
        return Progress(
            query: Int(document["query"]?.int64Value ?? 0), last: document["last"],
            read: Int(document["read"]?.int64Value ?? 0))
    }

    func save(_ progress: Progress, of version: Int64) throws {
        var document: BSONDocument = ["query": .int64(Int64(progress.query))]
        if let last = progress.last { document.append("last", last) }
        if progress.read > 0 { document.append("read", .int64(Int64(progress.read))) }
        let update = try connection.prepare("UPDATE sync_sets SET progress = ? WHERE version = ?")
        update.bind(1, document)
        update.bind(2, version)
        try update.run()
    }

    /// Stages a document until all documents of its set are downloaded.
    func stage(_ document: BSONDocument, in collection: Int64) throws {
        let insert = try connection.prepare(
            "INSERT OR REPLACE INTO sync_staged(collection, key, document) VALUES (?, ?, ?)")
        insert.bind(1, collection)
        insert.bind(2, keyOf: document.documentID)
        insert.bind(3, document)
        try insert.run()
    }

    /// Returns whether a document is staged.
    func isStaged(_ id: BSONValue, in collection: Int64) throws -> Bool {
        let select = try connection.prepare(
            "SELECT 1 FROM sync_staged WHERE collection = ? AND key = ?")
        select.bind(1, collection)
        select.bind(2, keyOf: id)
        return try select.step()
    }

    func unstage(_ id: BSONValue, in collection: Int64) throws {
        let delete = try connection.prepare(
            "DELETE FROM sync_staged WHERE collection = ? AND key = ?")
        delete.bind(1, collection)
        delete.bind(2, keyOf: id)
        try delete.run()
    }

    /// Returns the next staged document after a row.
    func staged(
        in collection: Int64, after row: Int64
    ) throws -> (row: Int64, document: BSONDocument)? {
        let select = try connection.prepare(
            """
            SELECT id, document FROM sync_staged WHERE collection = ? AND id > ?
            ORDER BY id LIMIT 1
            """)
        select.bind(1, collection)
        select.bind(2, row)
        guard try select.step() else { return nil }
        return (select.int64(0), try select.document(at: 1, named: "document"))
    }

    /// Removes the staged documents, so that the download starts again.
    func cancelBootstrap() throws {
        var history = try history()
        guard let set = history.coming else { return }
        _ = history.apply(.bootstrapCancelled, to: set.version)
        try save(history)
        try save(Progress(), of: set.version)
        try clearStaged()
    }

    func clearStaged() throws { try connection.execute("DELETE FROM sync_staged") }
}

// MARK: - Form

extension SubscriptionTable {
    private static let complete: Int64 = 2

    private static func number(of state: SubscriptionState) -> (state: Int64, error: String?) {
        switch state {
        case .pending: (0, nil)
        case .bootstrapping: (1, nil)
        case .complete: (complete, nil)
        case .error(let text): (3, text)
        // A superseded set has no row.
        case .superseded: (4, nil)
        }
    }

    private static func state(_ number: Int64, _ error: String) throws -> SubscriptionState {
        switch number {
        case 0: .pending
        case 1: .bootstrapping
        case complete: .complete
        case 3: .error(error)
        default: throw SyncError.unreadable("state")
        }
    }
}

/// A cache of subscription sets, which avoids compiling their filters again.
final class SubscriptionCache: Sendable {
    private let known = Locked<[Int64: (bytes: [UInt8], set: SubscriptionSet)]>([:])

    /// Returns the set of a row, from the cache where its bytes are unchanged.
    func set(_ version: Int64, _ bytes: [UInt8]) throws -> SubscriptionSet {
        if let known = known.withLock({ $0[version] }), known.bytes == bytes { return known.set }
        let set = try SubscriptionSet(
            version: version, try BSONDocument(validating: bytes, limits: .ofWrappers))
        known.withLock { known in
            if known.count > 100 { known.removeAll() }
            known[version] = (bytes, set)
        }
        return set
    }
}

extension SubscriptionSet {
    /// The stored form of the subscriptions.
    fileprivate var document: BSONDocument {
        let parts = subscriptions.map { subscription in
            var part: BSONDocument = [
                "id": .objectID(subscription.id),
                "db": .string(subscription.query.namespace.database),
                "collection": .string(subscription.query.namespace.collection),
                "filter": .document(subscription.query.filter),
                "created": .datetime(subscription.createdAt),
                "updated": .datetime(subscription.updatedAt),
            ]
            if let name = subscription.name { part.append("name", .string(name)) }
            return BSONValue.document(part)
        }
        return ["subscriptions": .array(BSONArray(parts))]
    }

    fileprivate init(version: Int64, _ document: BSONDocument) throws {
        let parts = document["subscriptions"]?.arrayValue?.values ?? []
        self.init(
            version: version, state: .pending,
            subscriptions: try parts.map { part in
                guard let subscription = try Subscription(part.documentValue ?? [:]) else {
                    throw SyncError.unreadable("content")
                }
                return subscription
            })
    }
}

extension Subscription {
    fileprivate init?(_ document: BSONDocument) throws(StoreError) {
        guard case .objectID(let id) = document["id"], let database = document["db"]?.stringValue,
            let collection = document["collection"]?.stringValue,
            let filter = document["filter"]?.documentValue,
            case .datetime(let created) = document["created"],
            case .datetime(let updated) = document["updated"]
        else { return nil }
        self.init(
            id: id, name: document["name"]?.stringValue,
            query: try SubscriptionQuery(Namespace(database, collection), filter),
            createdAt: created, updatedAt: updated)
    }
}
