/// A transaction that reads and writes documents; its changes are committed together or not at all.
///
/// It is valid only in the body that receives it. Its reads see its own writes.
public final class WriteTransaction: ReadTransaction {
    /// A comment that is copied into each later change of the feed.
    public var comment: BSONValue?

    /// Whether writes skip the collections' validators.
    public var bypassesValidation = false

    /// The index by which updates and deletes find their documents; `nil` leaves it to the planner.
    package var hint: IndexHint?

    /// Whether the sync engine writes; only the engine may write to synced collections directly.
    @exclusivity(unchecked) package var isEngineWrite = false
    /// The table last found not to be synced.
    @exclusivity(unchecked) var unsyncedTable: Int64?

    @exclusivity(unchecked) private(set) var feed: ChangeFeed
    /// The cached sizes of capped collections.
    var cappedUsage: [Int64: CappedUsage] = [:]
    /// The newest feed position before this transaction.
    let feedHeadAtStart: Int64
    private let clock: @Sendable () -> BSONDatetime
    /// The time recorded for deletions.
    private(set) lazy var now = clock()
    private var madeTables: Set<Int64> = []
    override var readsChanges: Bool { true }

    init(
        connection: SQLiteConnection, feed: ChangeFeed,
        clock: @escaping @Sendable () -> BSONDatetime
    ) {
        self.feed = feed
        self.clock = clock
        feedHeadAtStart = feed.head
        super.init(connection: connection, lastTable: nil)
    }

    /// Runs a body and undoes its changes when it throws; the transaction stays usable.
    ///
    /// - Throws: what the body throws, and SQLite's errors.
    public func savepoint<R>(_ body: () throws -> R) throws -> R {
        let feedBefore = feed
        do {
            return try connection.savepoint(body)
        } catch {
            feed = feedBefore
            connection.catalogCache.invalidateAll()
            cappedUsage.removeAll()
            forgetLastTable()
            throw error
        }
    }

    /// Runs a body on the collection's table, which is created when missing.
    func onTableForWriting<R>(
        _ namespace: Namespace, _ body: (CollectionTable) throws(StoreError) -> R
    ) throws(StoreError) -> R {
        if let result = try onTable(namespace, body) { return result }
        return try body(try makeTable(namespace, .none))
    }

    /// Creates a collection or view and records it in the feed.
    func makeTable(
        _ namespace: Namespace, _ options: CollectionOptions
    ) throws(StoreError) -> CollectionTable {
        let table = try Catalog.create(namespace, options, connection)
        invalidateTables()
        madeTables.insert(table.id)
        try record(.create, table, options.description)
        return table
    }

    /// Whether this transaction created the collection.
    package func hasCreated(_ namespace: Namespace) throws(StoreError) -> Bool {
        try collectionTable(namespace).map { madeTables.contains($0.id) } ?? false
    }

    /// Records the time of a new tombstone.
    func noteTombstone(at time: Int64) {
        feed.oldestTombstone = min(feed.oldestTombstone ?? time, time)
    }

    /// Discards cached tables after this transaction created one.
    package func invalidateTables() {
        connection.catalogCache.forgetTables()
        forgetLastTable()
    }

    /// Forgets a table that this transaction dropped or renumbered.
    func abandon(_ table: CollectionTable) {
        cappedUsage[table.id] = nil
        connection.catalogCache.forget(table.id)
        invalidateTables()
    }

    /// Writes a change to the feed, if the file has one.
    ///
    /// - Parameter link: where to find the document just written; used for changes of documents.
    func record(
        _ kind: StoreChange.Kind, _ namespace: Namespace, before: BSONDocument?,
        after: BSONDocument?, link: ImageLink? = nil, remarks: BSONDocument? = nil
    ) throws(StoreError) {
        guard feed.changesMax > 0 else { return }
        try feed.append(
            kind, namespace, before: before, after: after, link: link, comment: comment,
            detail: remarks, on: connection)
    }
}
