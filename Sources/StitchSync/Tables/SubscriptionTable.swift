internal import BSONStore

/// The tables of subscription sets in the store's file.
struct SubscriptionTable {
    let connection: SQLiteConnection
    let cache: SubscriptionCache

    /// The progress of a set's download.
    struct Progress: Sendable, Hashable {
        /// The index of the current query among the set's new ones.
        var query = 0
        /// The largest number of queries that are asked for together.
        var count = QueryGroup.countMax
        /// The `_id` of the last document read by the queries.
        var last: BSONValue?
        /// The number of documents read by the queries.
        var read = 0
        /// The kind of the next page; `nil` before the first page.
        var reading: Reading?
        /// The queries that the remote refused.
        var refused: [Refusal] = []
        /// Whether queries that can be asked for together follow each other; `false` for a download
        /// that an earlier version of the library began.
        var isOrdered = true
    }

    /// The contents of a page of a query's results.
    enum Reading: Int64 {
        /// Whole documents, where the device has few of them.
        case documents = 1
        /// Ids and versions, where the device has most of the documents already.
        case versions = 2
    }

    /// The remote's refusal of a query.
    struct Refusal: Sendable, Hashable {
        /// The index of the query among the set's new ones.
        let query: Int
        let code: Int
        let message: String
    }

    /// The columns of a set, in the order in which statements select them.
    private enum Column: Int32, SyncColumn {
        case version
        case state
        case error
        case content
        case progress
    }

    /// Returns the sets that are not superseded.
    func history() throws -> SubscriptionHistory {
        let select = try connection.prepare(
            """
            SELECT version, state, error, content, CASE state WHEN \(Self.refused) THEN progress END
            FROM sync_sets ORDER BY version
            """)
        var sets: [SubscriptionSet] = []
        while try select.step() {
            var set = try cache.set(
                select.int64(Column.version), select.bytes(Column.content))
            // An error that is NULL reads as an empty text.
            set.state = try Self.state(
                select.int64(Column.state), select.string(Column.error))
            if !select.isNull(Column.progress) {
                set.held = try cache.held(set.version, select.bytes(Column.progress))
            }
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
    ///
    /// A document that was written before a set which is asked for already, and again since, counts as
    /// written before this set.
    ///
    /// The set replaces the one before it if that was not asked for yet and no write lies between:
    /// only the later one is asked for, so that many updates in a row cost what they change.
    func add(_ set: SubscriptionSet) throws {
        let insert = try connection.prepare(
            "INSERT INTO sync_sets(version, state, content) VALUES (?1, ?2, ?4)")
        insert.bind(Column.version, set.version)
        insert.bind(Column.state, Self.number(of: set.state).state)
        insert.bind(Column.content, set.document)
        try insert.run()
        try run(
            """
            INSERT INTO sync_earlier SELECT id, ? FROM sync_documents
            WHERE pending = 1
                AND collection IN (SELECT id FROM sync_collections WHERE subscribed = 1)
            ON CONFLICT(document) DO UPDATE SET version = excluded.version
            WHERE version <= (
                SELECT max(version) FROM sync_sets WHERE state = \(Self.bootstrapping))
            """, set.version)
        guard connection.changedRowCount == 0 else { return }
        try run(
            "DELETE FROM sync_sets WHERE version = ? AND state = \(Self.unasked)", set.version - 1)
    }

    /// Stores the states of the sets and removes superseded ones.
    func save(_ history: SubscriptionHistory) throws {
        let kept = Set(history.sets.map(\.version))
        for version in try versions() where !kept.contains(version) {
            try run("DELETE FROM sync_sets WHERE version = ?", version)
        }
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

    private func versions() throws -> [Int64] {
        let select = try connection.prepare("SELECT version FROM sync_sets ORDER BY version")
        var versions: [Int64] = []
        while try select.step() { versions.append(select.int64(Column.version)) }
        return versions
    }

    private func run(_ sql: String, _ values: Int64...) throws {
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
    ///
    /// - Parameter cut: the collections whose writes cannot be sent, which do not delay one either.
    func firstHeldUp(except cut: Set<Int64>) throws -> Int64? {
        let select = try connection.prepare(
            """
            SELECT document, sync_earlier.version, collection FROM sync_earlier
            CROSS JOIN sync_documents ON sync_documents.id = document
            WHERE \(RecordSelection.unsent.condition)
            """)
        let records = SyncRecordTable(connection: connection)
        var first: Int64?
        while try select.step() {
            let version = select.int64(1)
            if let first, first <= version { continue }
            guard !cut.contains(select.int64(2)) else { continue }
            let record = try records.entry(inRow: select.int64(0))?.record
            if case .foreign = record?.version { continue }
            first = version
        }
        return first
    }

    /// Removes the list of writes before an answered set.
    ///
    /// - Parameter cut: the collections whose writes keep their place before it.
    func removeEarlier(upTo version: Int64, except cut: Set<Int64>) throws {
        let kept = cut.map(String.init).joined(separator: ", ")
        try run(
            """
            DELETE FROM sync_earlier WHERE version <= ? AND NOT EXISTS
                (SELECT 1 FROM sync_documents WHERE id = document AND collection IN (\(kept)))
            """, version)
    }

    /// Returns the record rows of the writes that precede the active set and are not sent yet.
    ///
    /// The set before it decides whether they are allowed. Those that were sent since are forgotten.
    func overdueRows() throws -> Set<Int64> {
        guard try hasEarlier() else { return [] }
        let active = try history().active.version
        try run(
            """
            DELETE FROM sync_earlier WHERE version <= ? AND EXISTS
                (SELECT 1 FROM sync_documents WHERE id = document AND pending = 0)
            """, active)
        return try earlierRows(before: active)
    }

    private func hasEarlier() throws -> Bool {
        let select = try connection.prepare("SELECT 1 FROM sync_earlier LIMIT 1")
        return try select.step()
    }
}

// MARK: - Documents that are coming in

extension SubscriptionTable.Progress {
    /// Returns the progress after the last page of some queries.
    func afterEnd(of group: QueryGroup) -> Self {
        var next = self
        next.query = group.queries.endIndex
        next.count = min(QueryGroup.countMax, 2 * count)
        (next.last, next.read, next.reading) = (nil, 0, nil)
        return next
    }

    /// Returns the progress after the remote refused the current queries: of several, fewer are
    /// asked for next; a single one is noted.
    func afterRefusal(by error: RemoteError, of group: QueryGroup) -> Self {
        guard group.queries.count > 1 else { return afterRefusal(by: error) }
        var next = self
        next.count = group.queries.count / 2
        (next.last, next.read) = (nil, 0)
        return next
    }

    /// Whether the list of refused queries is stored before the next page: storing it after each refusal
    /// would write it as often as it is long.
    var isStoredAfterRefusal: Bool { !refused.isEmpty && refused.count.isMultiple(of: 64) }

    /// Returns the progress after the remote refused the current query.
    func afterRefusal(by error: RemoteError) -> Self {
        var next = self
        next.refused.append(
            SubscriptionTable.Refusal(query: query, code: error.code, message: error.message))
        (next.query, next.count) = (query + 1, 1)
        (next.last, next.read, next.reading) = (nil, 0, nil)
        return next
    }
}

extension SubscriptionTable {
    func progress(of version: Int64) throws -> Progress {
        let select = try connection.prepare("SELECT progress FROM sync_sets WHERE version = ?")
        select.bind(1, version)
        guard try select.step(), !select.isNull(0) else { return Progress() }
        let document = try select.document(at: 0, named: "progress")
        let isBegun = document["query"]?.int64Value ?? 0 > 0 || document["last"] != nil
        return Progress(
            query: Int(document["query"]?.int64Value ?? 0),
            // Earlier versions of the library asked for one query at a time.
            count: document["count"]?.int64Value.map { Int($0) }
                ?? (document["last"] == nil ? QueryGroup.countMax : 1),
            last: document["last"],
            read: Int(document["read"]?.int64Value ?? 0),
            reading: document["reading"]?.int64Value.flatMap(Reading.init),
            refused: (document["refused"]?.arrayValue ?? []).compactMap { part in
                part.documentValue.map { part in
                    Refusal(
                        query: Int(part["query"]?.int64Value ?? 0),
                        code: Int(part["code"]?.int64Value ?? 0),
                        message: part["message"]?.stringValue ?? "")
                }
            },
            // Earlier versions of the library asked in the order of the subscriptions.
            isOrdered: document["ordered"]?.boolValue ?? !isBegun)
    }

    func save(_ progress: Progress, of version: Int64) throws {
        var document: BSONDocument = ["query": .int64(Int64(progress.query))]
        if let last = progress.last { document.append("last", last) }
        if progress.read > 0 { document.append("read", .int64(Int64(progress.read))) }
        if progress != Progress() { document.append("count", .int64(Int64(progress.count))) }
        if progress.isOrdered { document.append("ordered", true) }
        if let reading = progress.reading { document.append("reading", .int64(reading.rawValue)) }
        if !progress.refused.isEmpty {
            let parts = progress.refused.map { refusal in
                BSONValue.document([
                    "query": .int64(Int64(refusal.query)), "code": .int64(Int64(refusal.code)),
                    "message": .string(refusal.message),
                ])
            }
            document.append("refused", .array(BSONArray(parts)))
        }
        try save(progress: document, of: version)
    }

    /// Stores the subscriptions that keep documents on the device after a set was refused.
    func save(_ held: HeldSubscriptions, of version: Int64) throws {
        try save(progress: SubscriptionSet.document(of: held.subscriptions), of: version)
    }

    private func save(progress document: BSONDocument, of version: Int64) throws {
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

    /// Returns the next staged documents after a key, in the order of keys.
    ///
    /// The order is the index's: by row, each page would sort the rest of the collection.
    ///
    /// - Parameter key: the last key of the previous page; empty for the first page.
    func staged(
        in collection: Int64, after key: [UInt8]
    ) throws -> [(key: [UInt8], document: BSONDocument)] {
        let select = try connection.prepare(
            """
            SELECT key, document FROM sync_staged WHERE collection = ? AND key > ?
            ORDER BY key LIMIT ?
            """)
        select.bind(1, collection)
        select.bind(2, key)
        select.bind(3, Self.stagedPerRead)
        var page: [(key: [UInt8], document: BSONDocument)] = []
        var byteCount = 0
        while byteCount < Self.stagedBytesPerRead, try select.step() {
            let next = select.bytes(0)
            guard page.last?.key != next, next != key else {
                throw SyncError.disordered("sync_staged")
            }
            let document = try select.document(at: 1, named: "document")
            byteCount += document.byteCount
            page.append((next, document))
        }
        return page
    }

    /// The number of staged documents in one read.
    private static let stagedPerRead: Int64 = 500
    /// The number of bytes of staged documents after which a read ends.
    private static let stagedBytesPerRead = 4 * 1024 * 1024

    /// Returns a staged document.
    func staged(_ id: BSONValue, in collection: Int64) throws -> BSONDocument? {
        let select = try connection.prepare(
            "SELECT document FROM sync_staged WHERE collection = ? AND key = ?")
        select.bind(1, collection)
        select.bind(2, keyOf: id)
        return try select.step() ? try select.document(at: 0, named: "document") : nil
    }

    /// Returns whether a collection has staged documents.
    func hasStaged(in collection: Int64) throws -> Bool {
        let select = try connection.prepare(
            "SELECT 1 FROM sync_staged WHERE collection = ? LIMIT 1")
        select.bind(1, collection)
        return try select.step()
    }

    /// Removes the staged documents, so that the download starts again.
    func cancelBootstrap() throws {
        var history = try history()
        guard let set = history.coming else { return }
        try cancel(set, in: &history)
        try clearStaged()
    }

    /// Begins the download of a later set in place of the one that is coming.
    ///
    /// Staged documents stay, since the history is still followed for them; documents of
    /// collections that the later set does not ask for are removed.
    func giveWay(to version: Int64) throws {
        var history = try history()
        guard let set = history.coming,
            let next = history.sets.first(where: { $0.version == version })
        else { return }
        try cancel(set, in: &history)
        _ = history.apply(.bootstrapBegan, to: version)
        try save(history)
        for collection in try SyncCollectionTable(connection: connection).all()
        where !next.asks(of: collection.namespace) {
            try run("DELETE FROM sync_staged WHERE collection = ?", collection.rowID)
        }
    }

    private func cancel(_ set: SubscriptionSet, in history: inout SubscriptionHistory) throws {
        _ = history.apply(.bootstrapCancelled, to: set.version)
        try save(history)
        try save(Progress(), of: set.version)
    }

    func clearStaged() throws { try connection.execute("DELETE FROM sync_staged") }
}

// MARK: - Form

extension SubscriptionTable {
    private static let unasked: Int64 = 0
    private static let bootstrapping: Int64 = 1
    private static let complete: Int64 = 2
    private static let refused: Int64 = 3

    private static func number(of state: SubscriptionState) -> (state: Int64, error: String?) {
        switch state {
        case .pending: (unasked, nil)
        case .bootstrapping: (bootstrapping, nil)
        case .complete: (complete, nil)
        case .error(let text): (refused, text)
        // A superseded set has no row.
        case .superseded: (4, nil)
        }
    }

    private static func state(_ number: Int64, _ error: String) throws -> SubscriptionState {
        switch number {
        case unasked: .pending
        case bootstrapping: .bootstrapping
        case complete: .complete
        case refused: .error(error)
        default: throw SyncError.unreadable("state")
        }
    }
}

/// A cache of subscription sets, which avoids compiling their filters again.
final class SubscriptionCache: Sendable {
    private struct State {
        var sets: [Int64: (bytes: [UInt8], set: SubscriptionSet)] = [:]
        var held: [Int64: (bytes: [UInt8], held: HeldSubscriptions?)] = [:]
        /// The queries of all sets, by the bytes of their filters: a set has most of those of the
        /// one before.
        var queries: [Namespace: [BSONDocument: SubscriptionQuery]] = [:]
        var queryCount = 0
    }

    private let state = Locked(State())

    /// The largest number of sets that are kept.
    private static let setsMax = 100
    /// The largest number of queries that are kept.
    private static let queriesMax = 20_000

    /// Returns the set of a row, from the cache where its bytes are unchanged.
    func set(_ version: Int64, _ bytes: [UInt8]) throws -> SubscriptionSet {
        if let known = state.withLock({ $0.sets[version] }), known.bytes == bytes {
            return known.set
        }
        let document = try BSONDocument(validating: bytes, limits: .ofWrappers)
        let set = SubscriptionSet(
            version: version, state: .pending, subscriptions: try subscriptions(document))
        state.withLock { state in
            if state.sets.count > Self.setsMax { state.sets.removeAll() }
            state.sets[version] = (bytes, set)
        }
        return set
    }

    /// Returns the stored subscriptions that keep documents on the device after a refusal; `nil`
    /// where none are stored.
    func held(_ version: Int64, _ bytes: [UInt8]) throws -> HeldSubscriptions? {
        if let known = state.withLock({ $0.held[version] }), known.bytes == bytes {
            return known.held
        }
        let document = try BSONDocument(validating: bytes, limits: .ofWrappers)
        let held =
            document["subscriptions"] == nil
            ? nil : HeldSubscriptions(try subscriptions(document))
        state.withLock { state in
            if state.held.count > Self.setsMax { state.held.removeAll() }
            state.held[version] = (bytes, held)
        }
        return held
    }

    private func subscriptions(_ document: BSONDocument) throws -> [Subscription] {
        let parts = document["subscriptions"]?.arrayValue?.values ?? []
        return try parts.map { part in
            guard let subscription = try Subscription(part.documentValue ?? [:], query) else {
                throw SyncError.unreadable("content")
            }
            return subscription
        }
    }

    private func query(
        _ namespace: Namespace, _ filter: BSONDocument
    ) throws -> SubscriptionQuery {
        if let known = state.withLock({ $0.queries[namespace]?[filter] }) { return known }
        let query = try SubscriptionQuery(namespace, filter)
        state.withLock { state in
            if state.queryCount >= Self.queriesMax { (state.queries, state.queryCount) = ([:], 0) }
            state.queries[namespace, default: [:]][filter] = query
            state.queryCount += 1
        }
        return query
    }
}

extension SubscriptionSet {
    /// The stored form of the subscriptions.
    fileprivate var document: BSONDocument { Self.document(of: subscriptions) }

    fileprivate static func document(of subscriptions: [Subscription]) -> BSONDocument {
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
            switch subscription.shows {
            case .together: break
            case .asTheyArrive: part.append("shows", .int32(1))
            }
            return BSONValue.document(part)
        }
        return ["subscriptions": .array(BSONArray(parts))]
    }
}

extension Subscription {
    fileprivate init?(
        _ document: BSONDocument, _ query: (Namespace, BSONDocument) throws -> SubscriptionQuery
    ) throws {
        guard case .objectID(let id) = document["id"], let database = document["db"]?.stringValue,
            let collection = document["collection"]?.stringValue,
            let filter = document["filter"]?.documentValue,
            case .datetime(let created) = document["created"],
            case .datetime(let updated) = document["updated"]
        else { return nil }
        self.init(
            id: id, name: document["name"]?.stringValue,
            query: try query(Namespace(database, collection), filter),
            // Earlier versions of the library store no such field.
            shows: document["shows"]?.int64Value == 1 ? .asTheyArrive : .together,
            createdAt: created, updatedAt: updated)
    }
}
