/// A recorder of one write transaction's changes.
final class ChangeRecorder {
    private let connection: SQLiteConnection
    /// The feed, as the transaction has changed it so far.
    @exclusivity(unchecked) private(set) var feed: ChangeFeed
    /// The newest feed position before this transaction.
    let headAtStart: Int64
    /// A comment that is copied into each later change.
    @exclusivity(unchecked) var comment: BSONValue? {
        didSet { remarks = comment.map { [StoreChange.commentKey: $0] } }
    }
    /// The comment as each change keeps it.
    @exclusivity(unchecked) private var remarks: BSONDocument?
    /// The collections whose documents changed, also where that was undone; `nil` once anything else
    /// changed.
    @exclusivity(unchecked) private var namespaces: Set<Namespace>? = []
    /// The collection of the last change.
    @exclusivity(unchecked) private var lastNamespace: Namespace?
    private let clock: @Sendable () -> BSONDatetime
    /// The time recorded for deletions.
    private(set) lazy var now = clock()

    init(
        _ feed: ChangeFeed, _ connection: SQLiteConnection,
        clock: @escaping @Sendable () -> BSONDatetime
    ) {
        self.connection = connection
        self.feed = feed
        self.clock = clock
        headAtStart = feed.head
    }

    /// Whether the file has a feed.
    var isRecording: Bool { feed.changesMax > 0 }

    /// What the transaction has written so far.
    var writes: CommittedWrites {
        CommittedWrites(namespaces: namespaces, changeCount: feed.head - headAtStart)
    }

    /// Notes the collection of a change.
    private func note(_ kind: StoreChange.Kind, _ namespace: Namespace) {
        guard kind.isOfDocument else { return namespaces = nil }
        guard lastNamespace != namespace else { return }
        lastNamespace = namespace
        namespaces?.insert(namespace)
    }

    /// Returns to an earlier state, because the changes since then were undone.
    func restore(_ feed: ChangeFeed) { self.feed = feed }

    /// Records the time of a new tombstone.
    func noteTombstone(at time: Int64) {
        feed.oldestTombstone = min(feed.oldestTombstone ?? time, time)
    }

    /// Writes a change to the feed, if the file has one.
    ///
    /// - Parameter link: where to find the document just written; used for changes of documents.
    func record(
        _ kind: StoreChange.Kind, _ namespace: Namespace, before: BSONDocument?,
        after: BSONDocument?, link: ImageLink? = nil, remarks: BSONDocument? = nil
    ) throws(StoreError) {
        guard isRecording else { return }
        note(kind, namespace)
        try feed.append(
            kind, namespace, before: before, after: after, link: link,
            remarks: remarks.map(joined) ?? self.remarks, on: connection)
    }

    /// Returns the comment with other remarks on a change.
    private func joined(_ others: BSONDocument) -> BSONDocument {
        var joined = remarks ?? [:]
        for (key, value) in others { joined.append(key, value) }
        return joined
    }

    /// Records a definition change, if the file has a feed.
    func record(
        _ kind: DefinitionChange.Kind, _ table: CollectionTable, _ description: BSONDocument,
        before: BSONDocument? = nil
    ) throws(StoreError) {
        guard isRecording else { return }
        namespaces = nil
        var details: BSONDocument = ["description": .document(description)]
        if let before { details.append("before", .document(before)) }
        if table.options.view == nil {
            details.append("uuid", try Catalog.uuid(table, connection))
        }
        if let comment { details.append("comment", comment) }
        let statement = try connection.prepare(
            """
            INSERT INTO store_definitions (position, database, name, kind, details)
            VALUES (?1, ?2, ?3, ?4, ?5)
            """)
        statement.bind(1, feed.head)
        statement.bind(2, table.namespace.database)
        statement.bind(3, table.namespace.collection)
        statement.bind(4, kind.rawValue)
        statement.bind(5, details.bytes)
        try statement.run()
        try feed.trimDefinitions(upTo: connection.lastInsertedRowID, connection)
    }
}
