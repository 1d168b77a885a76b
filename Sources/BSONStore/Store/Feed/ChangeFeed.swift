/// The settings of the change feed and its next position.
struct ChangeFeed: Sendable {
    /// The number of changes to keep; 0 when the feed is off.
    var changesMax: Int64
    /// The position up to which changes are lost.
    var floor: Int64
    /// The newest position.
    var head: Int64
    /// When the oldest tombstone was written, in milliseconds since 1970; `nil` without tombstones.
    var oldestTombstone: Int64?

    static func read(_ connection: SQLiteConnection) throws(StoreError) -> ChangeFeed {
        let settings = try connection.prepare(
            "SELECT changes_max, changes_floor FROM store_settings WHERE id = 1")
        guard try settings.step() else {
            throw StoreError(.corrupt, "The file's settings are missing")
        }
        let floor = settings.int64(1)
        let newest = try connection.int64("SELECT max(position) FROM store_changes") ?? 0
        let changesMax = settings.int64(0)
        // Later positions count on from these numbers.
        guard [changesMax, floor, newest].allSatisfy((0...Int64.max / 2).contains) else {
            throw StoreError(
                .corrupt, "The feed's numbers are out of range: \(changesMax), \(floor), \(newest)")
        }
        return ChangeFeed(changesMax: changesMax, floor: floor, head: max(newest, floor))
    }

    /// Stores the settings that the options ask for; runs in a transaction.
    static func apply(
        _ history: StoreChangeHistory, _ connection: SQLiteConnection
    ) throws(StoreError) {
        let state = try read(connection)
        let wanted: Int64
        switch history {
        case .asStored: return
        case .off: wanted = 0
        case .keep(let changesMax): wanted = min(Int64(max(1, changesMax)), Int64.max / 2)
        }
        guard wanted != state.changesMax else { return }
        // Writes without a feed leave a gap: no reader can resume from before it.
        let wasFilled = try connection.int64("SELECT 1 FROM store_collections") != nil
        let isGap = wanted == 0 || (state.changesMax == 0 && wasFilled)
        let floor = isGap ? state.head + 1 : state.floor
        let statement = try connection.prepare(
            "UPDATE store_settings SET changes_max = ?1, changes_floor = ?2 WHERE id = 1")
        statement.bind(1, wanted)
        statement.bind(2, floor)
        try statement.run()
        if wanted == 0 {
            try connection.execute("DELETE FROM store_changes")
            try connection.execute("DELETE FROM store_definitions")
        }
    }
}

extension ChangeFeed {
    private static let insertion = FixedStatement(
        "INSERT INTO store_changes VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")

    /// The position that the next change gets, which its row stores; 0 when the feed is off.
    var next: Int64 { changesMax > 0 ? head + 1 : 0 }

    /// Writes a change at the next position.
    ///
    /// - Parameter link: where to find the document; used for changes of documents.
    mutating func append(
        _ kind: StoreChange.Kind, _ namespace: Namespace, before: BSONDocument?,
        after: BSONDocument?, link: ImageLink?, remarks: BSONDocument?,
        on connection: SQLiteConnection
    ) throws(StoreError) {
        let statement = try connection.prepare(Self.insertion)
        statement.bind(1, head + 1)
        statement.bind(2, namespace.database)
        statement.bind(3, namespace.collection)
        statement.bind(4, kind.rawValue)
        statement.bind(7, remarks)
        if let before {
            try ImagePatch.lend(before, beside: after) { (image) throws(StoreError) in
                statement.bind(5, lending: image)
                try run(statement, kind, after, link)
            }
        } else {
            try run(statement, kind, after, link)
        }
        head += 1
    }

    private func run(
        _ statement: borrowing SQLiteStatement, _ kind: StoreChange.Kind, _ after: BSONDocument?,
        _ link: ImageLink?
    ) throws(StoreError) {
        guard let link else {
            guard let after else { return try statement.run() }
            return try after.withUnsafeBytes { (image) throws(StoreError) in
                statement.bind(6, lending: image)
                try statement.run()
            }
        }
        let keepsImage = link.previous > 0 && ImageLink.keepsImage(at: head + 1)
        // A reader of an earlier change finds the next whole image by this row.
        if keepsImage || kind == .delete { statement.bind(8, link.row) }
        guard keepsImage, let after else {
            return try link.lend { (bytes) throws(StoreError) in
                statement.bind(6, lending: bytes)
                try statement.run()
            }
        }
        try after.withUnsafeBytes { (image) throws(StoreError) in
            try link.lend(with: image) { (bytes) throws(StoreError) in
                statement.bind(6, lending: bytes)
                try statement.run()
            }
        }
    }

    /// Removes the changes beyond the number to keep.
    func trim(_ connection: SQLiteConnection) throws(StoreError) {
        guard head > changesMax else { return }
        let statement = try connection.prepare("DELETE FROM store_changes WHERE position <= ?1")
        statement.bind(1, head - changesMax)
        try statement.run()
        // Positions have no index but rise with the row numbers: the oldest row is enough.
        let oldest = try connection.prepare(
            "SELECT position FROM store_definitions ORDER BY id LIMIT 1")
        guard try oldest.step(), oldest.int64(0) < head - changesMax else {
            return oldest.reset()
        }
        oldest.reset()
        let definitions = try connection.prepare(
            "DELETE FROM store_definitions WHERE position < ?1")
        definitions.bind(1, head - changesMax)
        try definitions.run()
    }

    /// Removes definition changes beyond the number of changes to keep.
    func trimDefinitions(
        upTo newest: Int64, _ connection: SQLiteConnection
    ) throws(StoreError) {
        guard newest > changesMax else { return }
        let statement = try connection.prepare("DELETE FROM store_definitions WHERE id <= ?1")
        statement.bind(1, newest - changesMax)
        try statement.run()
    }
}
