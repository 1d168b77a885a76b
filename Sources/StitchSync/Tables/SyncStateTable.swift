internal import BSONStore

/// The tables of the engine's state per collection (`sync_collections`) and per store
/// (`sync_instance`) in one transaction.
struct SyncStateTable {
    let connection: SQLiteConnection

    /// The sync state of one collection.
    struct CollectionState {
        let rowID: Int64
        let namespace: Namespace
        /// The last read position in the remote's history.
        var token: ResumeToken?
        /// Whether events may have been missed, so that all versions have to be compared.
        var needsScan: Bool
        /// Whether the comparison follows a drop that the app treats as a delete of each document.
        var isAfterDrop = false
        /// Whether there is a listener, so that events are stored.
        var listens: Bool
        /// Whether the collection has, or had, a subscription.
        var isSubscribed = false
        /// The identity of the synced remote collection; `nil` until one was adopted.
        var identity: RemoteIdentity?
        /// The reason of the collection's stop; `nil` while it syncs.
        var stop: SyncStop?
        /// The last position in a lost history, until all versions are compared.
        var lostToken: ResumeToken?
        /// Whether there are wanted ids without records, see ``WantedIDs``.
        var hasWantedIDs = false
        /// Whether there are batched attempts, see ``AttemptBatch``.
        var hasAttempts = false
    }

    /// The selected columns of a collection, in order.
    ///
    /// Every statement below is made of this list: a column's raw value is its place in a result,
    /// and ``parameter`` is its number in a statement that binds it.
    fileprivate enum Column: Int32, CaseIterable {
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

        /// The number of the column's parameter: SQLite counts parameters from 1, columns from 0.
        var parameter: Int32 { rawValue + 1 }
    }

    /// The values of the column `needs_scan`.
    private enum Scan: Int64 {
        /// The history was read without a gap.
        case notNeeded = 0
        /// All versions have to be compared.
        case needed = 1
        /// All versions have to be compared, and a missing document counts as deleted.
        case neededAfterDrop = 2

        init(of collection: CollectionState) {
            guard collection.needsScan else {
                self = .notNeeded
                return
            }
            self = collection.isAfterDrop ? .neededAfterDrop : .needed
        }
    }
}

// MARK: - Collections

extension SyncStateTable {
    private static let select =
        "SELECT \(Column.allCases.map(\.sql).joined(separator: ", ")) FROM sync_collections"
    private static let selectOne = "\(select) WHERE namespace = ?\(Column.namespace.parameter)"
    private static let selectAll = "\(select) ORDER BY id"
    private static let update =
        """
        UPDATE sync_collections
        SET \(Column.saved.map { "\($0.sql) = ?\($0.parameter)" }.joined(separator: ", "))
        WHERE id = ?\(Column.id.parameter)
        """

    /// Returns the collection's row; `nil` when the collection was never synced.
    func existing(_ namespace: Namespace) throws -> CollectionState? {
        let select = try connection.prepare(Self.selectOne)
        select.bind(Column.namespace.parameter, namespace.description)
        return try select.step() ? Self.state(select) : nil
    }

    /// Returns the collection's row; inserts one when the collection was never synced.
    ///
    /// - Throws: `StoreError` of code `.invalidNamespace`.
    func findOrInsert(_ namespace: Namespace) throws -> CollectionState {
        if let found = try existing(namespace) { return found }
        try namespace.check()
        let insert = try connection.prepare(
            "INSERT INTO sync_collections(namespace, needs_scan, listens) VALUES (?1, ?2, ?3)")
        insert.bind(1, namespace.description)
        insert.bind(2, Scan.needed.rawValue)
        insert.bind(3, Int64(0))
        try insert.run()
        return CollectionState(
            rowID: connection.lastInsertedRowID, namespace: namespace, token: nil,
            needsScan: true, listens: false)
    }

    /// Returns all collections, in the order of their first sync.
    func collections() throws -> [CollectionState] {
        let select = try connection.prepare(Self.selectAll)
        var collections: [CollectionState] = []
        while try select.step() { collections.append(try Self.state(select)) }
        return collections
    }

    /// Stores the state of a collection.
    func save(_ collection: CollectionState) throws {
        let update = try connection.prepare(Self.update)
        update.bind(Column.id.parameter, collection.rowID)
        for column in Column.saved { Self.bind(column, of: collection, to: update) }
        try update.run()
    }

    /// Stores whether a collection has a listener, where that is known and has changed.
    func save(listens: Bool?, in collection: inout CollectionState) throws {
        guard let listens, listens != collection.listens else { return }
        collection.listens = listens
        try save(collection)
    }

    /// Clears the column `subscribed`: the collection neither has nor had a subscription.
    ///
    /// A collection with wanted ids keeps it, since a query may have requested some of them.
    func clearSubscribedMark(_ collection: CollectionState) throws {
        let update = try connection.prepare(
            """
            UPDATE sync_collections SET subscribed = 0 WHERE id = ?1
                AND NOT EXISTS (SELECT 1 FROM sync_wanted WHERE collection = ?1)
            """)
        update.bind(1, collection.rowID)
        try update.run()
    }

    private static func bind(
        _ column: Column, of collection: CollectionState, to update: borrowing SQLiteStatement
    ) {
        let parameter = column.parameter
        switch column {
        case .id, .namespace, .hasWantedIDs, .hasAttempts:
            preconditionFailure("the column \(column) of a collection does not change")
        case .token: update.bind(parameter, collection.token?.document)
        case .needsScan: update.bind(parameter, Scan(of: collection).rawValue)
        case .listens: update.bind(parameter, Int64(collection.listens ? 1 : 0))
        case .subscribed: update.bind(parameter, Int64(collection.isSubscribed ? 1 : 0))
        case .identity: update.bind(parameter, collection.identity?.document)
        case .stop: update.bind(parameter, collection.stop?.document)
        case .lostToken: update.bind(parameter, collection.lostToken?.document)
        }
    }

    private static func state(_ row: borrowing SQLiteStatement) throws -> CollectionState {
        let scan = Scan(rawValue: row.int64(.needsScan)) ?? .needed
        return CollectionState(
            rowID: row.int64(.id),
            namespace: try Namespace(parsing: row.string(Column.namespace.rawValue)),
            token: try row.document(.token).map(ResumeToken.init),
            needsScan: scan != .notNeeded, isAfterDrop: scan == .neededAfterDrop,
            listens: row.int64(.listens) != 0, isSubscribed: row.int64(.subscribed) != 0,
            identity: try row.document(.identity).map(RemoteIdentity.init(stored:)),
            stop: try row.document(.stop).map(SyncStop.init(stored:)),
            lostToken: try row.document(.lostToken).map(ResumeToken.init),
            hasWantedIDs: row.int64(.hasWantedIDs) != 0, hasAttempts: row.int64(.hasAttempts) != 0)
    }
}

extension SQLiteStatement {
    fileprivate borrowing func int64(_ column: SyncStateTable.Column) -> Int64 {
        int64(column.rawValue)
    }

    fileprivate borrowing func document(
        _ column: SyncStateTable.Column
    ) throws -> BSONDocument? {
        isNull(column.rawValue) ? nil : try BSONDocument(validating: bytes(column.rawValue))
    }
}

// MARK: - Numbers of the store

extension SyncStateTable {
    /// Returns the instance's number, a part of the ids of its operations.
    func instance() throws -> UInt64 {
        UInt64(bitPattern: try number("SELECT instance FROM sync_instance"))
    }

    /// Returns new ids for attempts; no id is returned twice.
    func nextOperations(_ count: Int) throws -> [OperationID] {
        let last = try number(
            "UPDATE sync_instance SET operations = operations + ? RETURNING operations",
            Int64(count))
        let first = last - Int64(count) + 1
        let instance = try instance()
        return (0..<Int64(count)).map {
            OperationID(instance: instance, sequence: UInt64(bitPattern: first + $0))
        }
    }

    /// Returns a stale mark that is greater than all earlier ones.
    ///
    /// The file names a record's stale mark `hint`, and the newest mark of the store `hints`.
    func nextStaleMark() throws -> Int64 {
        try number("UPDATE sync_instance SET hints = hints + 1 RETURNING hints")
    }

    /// Runs a statement that returns one number.
    func number(_ sql: String, _ values: Int64...) throws -> Int64 {
        let statement = try connection.prepare(sql)
        for (index, value) in values.enumerated() { statement.bind(Int32(index + 1), value) }
        guard try statement.step() else {
            throw SyncError(.storeFailed, "the sync tables lack the instance's row")
        }
        let number = statement.int64(0)
        // Ends the UPDATE: SQLite cannot commit while a statement still has a row to return.
        try statement.run()
        return number
    }
}

extension SyncStop {
    /// Reads a stored stop.
    fileprivate init(stored: BSONDocument) throws {
        guard let code = stored["code"]?.stringValue.flatMap(SyncError.Code.init),
            let expected = stored["expected"]?.documentValue,
            let found = stored["found"]?.documentValue, let count = stored["count"]?.int64Value
        else { throw SyncRecordTable.damaged("stop") }
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
        default: throw SyncRecordTable.damaged("identity")
        }
    }
}
