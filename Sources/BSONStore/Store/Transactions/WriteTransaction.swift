/// Reads and changes documents; all of it is committed together or not at all.
///
/// Valid only in the body that it is given to. Its reads see its own writes.
public final class WriteTransaction: ReadTransaction {
    /// Names the operation in the change feed: copied into each change that is written after.
    public var comment: BSONValue?

    /// Whether documents are written without asking the collections' validators.
    public var bypassesValidation = false

    /// By which index updates and deletes find their documents; `nil` leaves it to the planner.
    package var hint: IndexHint?

    /// Whether the sync engine writes, which alone may write to what it keeps in step.
    package var isEngineWrite = false
    /// The collections that no engine keeps in step, as far as that was asked.
    var unsyncedTables: Set<Int64> = []

    private(set) var feed: ChangeFeed
    /// What capped collections hold, as far as it was counted.
    var cappedUsage: [Int64: CappedUsage] = [:]
    /// The newest position before this transaction.
    let feedHeadAtStart: Int64
    private let clock: @Sendable () -> BSONDatetime
    /// The time of the deletions.
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

    /// Runs a body whose changes are undone when it throws, while the transaction goes on.
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

    /// Runs a body on the collection's table, which is made when it is not there.
    func onTableForWriting<R>(
        _ namespace: Namespace, _ body: (CollectionTable) throws(StoreError) -> R
    ) throws(StoreError) -> R {
        if let result = try onTable(namespace, body) { return result }
        return try body(try makeTable(namespace, .none))
    }

    /// Makes a collection or view and records it.
    func makeTable(
        _ namespace: Namespace, _ options: CollectionOptions
    ) throws(StoreError) -> CollectionTable {
        let table = try Catalog.create(namespace, options, connection)
        invalidateTables()
        madeTables.insert(table.id)
        try record(.create, table, options.description)
        return table
    }

    /// Whether the collection is one that this transaction made.
    package func hasCreated(_ namespace: Namespace) throws(StoreError) -> Bool {
        try collectionTable(namespace).map { madeTables.contains($0.id) } ?? false
    }

    /// Remembers that there is a tombstone.
    func noteTombstone(at time: Int64) {
        feed.oldestTombstone = min(feed.oldestTombstone ?? time, time)
    }

    /// Looks tables up again after this transaction made one.
    package func invalidateTables() {
        connection.catalogCache.forgetTables()
        forgetLastTable()
    }

    /// Forgets a table that this transaction dropped or that has another number now.
    func abandon(_ table: CollectionTable) {
        cappedUsage[table.id] = nil
        connection.catalogCache.forget(table.id)
        invalidateTables()
    }

    /// Writes a change to the feed, when there is one.
    ///
    /// - Parameter link: where the document is that was written right before, for the change of one.
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
