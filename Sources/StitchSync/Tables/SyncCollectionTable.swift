internal import BSONStore

/// The table of synced collections (`sync_collections`) in one transaction: one row for each.
struct SyncCollectionTable {
    let connection: SQLiteConnection

    /// The selected columns of a collection, in order.
    ///
    /// Every statement below is made of this list.
    private enum Column: Int32, CaseIterable, SyncColumn {
        case id
        case namespace
        case token
        case needsScan
        case listens
        case subscribed
        case identity
        case stop
        case lostToken
        /// Computed from another table.
        case hasWantedIDs
        /// Computed from another table.
        case hasAttempts

        /// The columns that ``save(_:)`` writes.
        static let saved: [Column] = [
            .token, .needsScan, .listens, .subscribed, .identity, .stop, .lostToken,
        ]

        /// The column's name in the file, or the expression that computes it.
        var sql: String {
            switch self {
            case .id: "id"
            case .namespace: "namespace"
            case .token: "token"
            case .needsScan: "needs_scan"
            case .listens: "listens"
            case .subscribed: "subscribed"
            case .identity: "identity"
            case .stop: "stop"
            case .lostToken: "lost_token"
            case .hasWantedIDs:
                "EXISTS (SELECT 1 FROM sync_wanted WHERE collection = sync_collections.id)"
            case .hasAttempts:
                "EXISTS (SELECT 1 FROM sync_attempts WHERE collection = sync_collections.id)"
            }
        }
    }

    /// The values of the column `needs_scan`.
    private enum Scan: Int64 {
        /// The history was read without a gap.
        case notNeeded = 0
        /// All versions have to be compared.
        case needed = 1
        /// All versions have to be compared, and a missing document counts as deleted.
        case neededAfterDrop = 2
        /// All versions were compared, but a query for new documents was refused.
        case newcomersOwed = 3

        init(of collection: SyncCollectionState) {
            guard collection.needsScan else {
                self = collection.owesNewcomers ? .newcomersOwed : .notNeeded
                return
            }
            self = collection.isAfterDrop ? .neededAfterDrop : .needed
        }
    }
}

extension SyncCollectionTable {
    private static let select =
        "SELECT \(Column.allCases.map(\.sql).joined(separator: ", ")) FROM sync_collections"
    private static let selectOne = "\(select) WHERE namespace = ?\(Column.namespace.parameter)"
    private static let selectAll = "\(select) ORDER BY id"
    private static let insert =
        """
        INSERT INTO sync_collections(namespace, needs_scan, listens)
        VALUES (?\(Column.namespace.parameter), ?\(Column.needsScan.parameter),
            ?\(Column.listens.parameter))
        """
    private static let update =
        """
        UPDATE sync_collections
        SET \(Column.saved.map { "\($0.sql) = ?\($0.parameter)" }.joined(separator: ", "))
        WHERE id = ?\(Column.id.parameter)
        """

    /// Returns the collection's row; `nil` when the collection was never synced.
    func existing(_ namespace: Namespace) throws -> SyncCollectionState? {
        let select = try connection.prepare(Self.selectOne)
        select.bind(Column.namespace, namespace.description)
        return try select.step() ? Self.state(select) : nil
    }

    /// Returns the collection's row; inserts one when the collection was never synced.
    ///
    /// - Throws: `StoreError` of code `.invalidNamespace`.
    func findOrInsert(_ namespace: Namespace) throws -> SyncCollectionState {
        if let found = try existing(namespace) { return found }
        try namespace.check()
        let insert = try connection.prepare(Self.insert)
        insert.bind(Column.namespace, namespace.description)
        insert.bind(Column.needsScan, Scan.needed.rawValue)
        insert.bind(Column.listens, Int64(0))
        try insert.run()
        return SyncCollectionState(
            rowID: connection.lastInsertedRowID, namespace: namespace, token: nil,
            needsScan: true, listens: false)
    }

    /// Returns all collections, in the order of their first sync.
    func all() throws -> [SyncCollectionState] {
        let select = try connection.prepare(Self.selectAll)
        var collections: [SyncCollectionState] = []
        while try select.step() { collections.append(try Self.state(select)) }
        return collections
    }

    /// Stores the state of a collection.
    func save(_ collection: SyncCollectionState) throws {
        let update = try connection.prepare(Self.update)
        update.bind(Column.id, collection.rowID)
        for column in Column.saved { Self.bind(column, of: collection, to: update) }
        try update.run()
    }

    /// Stores whether a collection has a listener, where that is known and has changed.
    func save(listens: Bool?, in collection: inout SyncCollectionState) throws {
        guard let listens, listens != collection.listens else { return }
        collection.listens = listens
        try save(collection)
    }

    /// Clears the column `subscribed`, as if the collection never had a subscription.
    ///
    /// A collection with wanted ids keeps it, since a query may have requested some of them.
    func endSubscribedState(of collection: SyncCollectionState) throws {
        let update = try connection.prepare(
            """
            UPDATE sync_collections SET subscribed = 0 WHERE id = ?\(Column.id.parameter)
                AND NOT \(Column.hasWantedIDs.sql)
            """)
        update.bind(Column.id, collection.rowID)
        try update.run()
    }

    private static func bind(
        _ column: Column, of collection: SyncCollectionState, to update: borrowing SQLiteStatement
    ) {
        switch column {
        case .id, .namespace, .hasWantedIDs, .hasAttempts:
            preconditionFailure("the column \(column) of a collection does not change")
        case .token: update.bind(column, collection.token?.document)
        case .needsScan: update.bind(column, Scan(of: collection).rawValue)
        case .listens: update.bind(column, Int64(collection.listens ? 1 : 0))
        case .subscribed: update.bind(column, Int64(collection.isSubscribed ? 1 : 0))
        case .identity: update.bind(column, collection.identity?.document)
        case .stop: update.bind(column, collection.stop?.document)
        case .lostToken: update.bind(column, collection.lostToken?.document)
        }
    }

    private static func state(_ row: borrowing SQLiteStatement) throws -> SyncCollectionState {
        let scan = Scan(rawValue: row.int64(Column.needsScan)) ?? .needed
        return SyncCollectionState(
            rowID: row.int64(Column.id),
            namespace: try Namespace(parsing: row.string(Column.namespace)),
            token: try row.document(Column.token).map(ResumeToken.init),
            needsScan: scan == .needed || scan == .neededAfterDrop,
            isAfterDrop: scan == .neededAfterDrop, owesNewcomers: scan == .newcomersOwed,
            listens: row.int64(Column.listens) != 0,
            isSubscribed: row.int64(Column.subscribed) != 0,
            identity: try row.document(Column.identity).map(RemoteIdentity.init(stored:)),
            stop: try row.document(Column.stop).map(SyncStop.init(stored:)),
            lostToken: try row.document(Column.lostToken).map(ResumeToken.init),
            hasWantedIDs: row.int64(Column.hasWantedIDs) != 0,
            hasAttempts: row.int64(Column.hasAttempts) != 0)
    }
}

extension SyncStop {
    /// Reads a stored stop.
    fileprivate init(stored: BSONDocument) throws {
        guard let code = stored["code"]?.stringValue.flatMap(SyncError.Code.init),
            let expected = stored["expected"]?.documentValue,
            let found = stored["found"]?.documentValue, let count = stored["count"]?.int64Value
        else { throw SyncError.unreadable("stop") }
        self.init(
            code, expected: try RemoteIdentity(stored: expected),
            found: try RemoteIdentity(stored: found), documentCount: Int(count))
    }
}

extension RemoteIdentity {
    /// Reads a stored identity.
    fileprivate init(stored: BSONDocument) throws {
        switch (stored["uuid"], stored["kind"]?.stringValue) {
        case (.binary(let uuid)?, _): self = .known(uuid)
        case (nil, "notMade"): self = .notMade
        case (nil, "unknown"): self = .unknown
        default: throw SyncError.unreadable("identity")
        }
    }
}
