internal import BSONStore

/// The tables of the engine's state per store and per collection in one transaction.
struct SyncStateTable {
    let connection: SQLiteConnection

    /// The sync state of one collection.
    struct Collection {
        let rowID: Int64
        let namespace: Namespace
        /// The last read position in the remote's history.
        var token: ResumeToken?
        /// Whether events may have been missed, so that all versions have to be compared.
        var needsScan: Bool
        /// Whether the comparison follows a drop that the app treats as a delete of each document.
        var isAfterDrop = false
        /// The identity of the synced remote collection; `nil` until one was adopted.
        var identity: RemoteIdentity?
        /// The reason of the collection's stop; `nil` while it syncs.
        var stop: SyncStop?
        /// The last position in a lost history, until all versions are compared.
        var lostToken: ResumeToken?
        /// Whether there is a listener, so that events are stored.
        var listens: Bool
        /// Whether the collection has, or had, a subscription.
        var isSubscribed = false
        /// Whether there are wanted ids without records, see ``WantedIDs``.
        var hasWantedIDs = false
        /// Whether there are batched attempts, see ``AttemptBatch``.
        var hasAttempts = false
    }

    private static let columns =
        """
        id, namespace, token, needs_scan, listens, subscribed,
        EXISTS (SELECT 1 FROM sync_wanted WHERE collection = sync_collections.id),
        EXISTS (SELECT 1 FROM sync_attempts WHERE collection = sync_collections.id),
        identity, stop, lost_token
        """

    /// Returns the collection's row, which it inserts when it is missing.
    ///
    /// - Throws: `StoreError` of code `.invalidNamespace`.
    func collection(_ namespace: Namespace) throws -> Collection {
        if let found = try existing(namespace) { return found }
        try namespace.check()
        let insert = try connection.prepare(
            "INSERT INTO sync_collections(namespace, needs_scan, listens) VALUES (?, 1, 0)")
        insert.bind(1, namespace.description)
        try insert.run()
        return Collection(
            rowID: connection.lastInsertedRowID, namespace: namespace, token: nil,
            needsScan: true, listens: false)
    }

    /// Returns the collection's row; `nil` when the collection was never synced.
    func existing(_ namespace: Namespace) throws -> Collection? {
        let select = try connection.prepare(
            "SELECT \(Self.columns) FROM sync_collections WHERE namespace = ?")
        select.bind(1, namespace.description)
        return try select.step() ? Self.collection(select) : nil
    }

    /// Returns all collections, in the order of their first sync.
    func collections() throws -> [Collection] {
        let select = try connection.prepare(
            "SELECT \(Self.columns) FROM sync_collections ORDER BY id")
        var collections: [Collection] = []
        while try select.step() { collections.append(try Self.collection(select)) }
        return collections
    }

    /// Stores the state of a collection.
    func save(_ collection: Collection) throws {
        let update = try connection.prepare(
            """
            UPDATE sync_collections SET token = ?, needs_scan = ?, listens = ?, subscribed = ?,
                identity = ?, stop = ?, lost_token = ?
            WHERE id = ?
            """)
        update.bind(1, collection.token?.document.bytes)
        update.bind(2, Int64(collection.needsScan ? collection.isAfterDrop ? 2 : 1 : 0))
        update.bind(3, Int64(collection.listens ? 1 : 0))
        update.bind(4, Int64(collection.isSubscribed ? 1 : 0))
        update.bind(5, collection.identity?.document.bytes)
        update.bind(6, collection.stop?.document.bytes)
        update.bind(7, collection.lostToken?.document.bytes)
        update.bind(8, collection.rowID)
        try update.run()
    }

    /// Clears the mark that the collection has or had a subscription.
    ///
    /// A collection with wanted ids keeps the mark, since a query may have requested some of them.
    func clearSubscribedMark(_ collection: Collection) throws {
        let update = try connection.prepare(
            """
            UPDATE sync_collections SET subscribed = 0 WHERE id = ?1
                AND NOT EXISTS (SELECT 1 FROM sync_wanted WHERE collection = ?1)
            """)
        update.bind(1, collection.rowID)
        try update.run()
    }

    /// Stores whether a collection has a listener, where that is known and has changed.
    func note(listens: Bool?, in collection: inout Collection) throws {
        guard let listens, listens != collection.listens else { return }
        collection.listens = listens
        try save(collection)
    }

    private static func collection(_ row: borrowing SQLiteStatement) throws -> Collection {
        Collection(
            rowID: row.int64(0), namespace: try Namespace(parsing: row.string(1)),
            token: try document(row, 2).map(ResumeToken.init),
            needsScan: row.int64(3) != 0, isAfterDrop: row.int64(3) == 2,
            identity: try document(row, 8).map(RemoteIdentity.init(stored:)),
            stop: try document(row, 9).map(SyncStop.init(stored:)),
            lostToken: try document(row, 10).map(ResumeToken.init),
            listens: row.int64(4) != 0,
            isSubscribed: row.int64(5) != 0, hasWantedIDs: row.int64(6) != 0,
            hasAttempts: row.int64(7) != 0)
    }

    private static func document(
        _ row: borrowing SQLiteStatement, _ column: Int32
    ) throws -> BSONDocument? {
        row.isNull(column) ? nil : try BSONDocument(validating: row.bytes(column))
    }

    /// Returns the instance's number, a part of the names of its attempts.
    func instance() throws -> UInt64 {
        UInt64(bitPattern: try number("SELECT instance FROM sync_instance"))
    }

    /// Returns new names for attempts; no name is returned twice.
    func nextOperations(_ count: Int) throws -> [OperationID] {
        let first = try number(
            "UPDATE sync_instance SET operations = operations + ? RETURNING operations",
            Int64(count))
        let instance = try instance()
        return (0..<count).map {
            OperationID(
                instance: instance, sequence: UInt64(bitPattern: first - Int64(count - 1 - $0)))
        }
    }

    /// Returns a stale mark that is greater than all earlier ones.
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
        while try statement.step() {}
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
