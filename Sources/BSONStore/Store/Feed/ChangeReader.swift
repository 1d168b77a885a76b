/// A reader of the change feed.
struct ChangeReader {
    /// The transaction's connection.
    let connection: SQLiteConnection

    private var images: ChangeImageReader { ChangeImageReader(connection: connection) }

    /// The position of the newest change in the feed, as this transaction sees it.
    var position: Int64 {
        get throws(StoreError) { try ChangeFeed.read(connection).head }
    }

    /// The position behind which the feed still keeps every change.
    var oldestPosition: Int64 {
        get throws(StoreError) { try oldestPosition(ChangeFeed.read(connection)) }
    }

    private func oldestPosition(_ state: ChangeFeed) throws(StoreError) -> Int64 {
        let oldest = try connection.int64("SELECT min(position) FROM store_changes")
        return max(state.floor + 1, oldest ?? state.head + 1) - 1
    }

    /// Reads changes in commit order, with the earlier documents only where needed.
    ///
    /// - Parameter needsBefore: decides from the document after a change (`nil` without one) and
    ///   from the number of its leading bytes, without lengths, that the earlier document shares.
    func changes(
        after position: Int64, in namespace: Namespace?, limit: Int,
        needsBefore: (BSONDocument?, Int) -> Bool
    ) throws(StoreError) -> StoreChangeBatch {
        let state = try ChangeFeed.read(connection)
        guard state.changesMax > 0 else {
            throw StoreError(.changeStreamNotEnabled, "The store keeps no change feed")
        }
        let floor = try oldestPosition(state)
        guard position >= floor, position <= state.head else {
            throw StoreError(
                .changeStreamHistoryLost,
                "Resume of change stream was not possible, as the resume point may no longer be in "
                    + "the oplog. (position \(position), kept \(floor) to \(state.head))")
        }
        let last = position + min(state.head - position, Int64(max(1, limit)))
        let (changes, end) = try rows(from: position, through: last, in: namespace, needsBefore)
        return StoreChangeBatch(changes: changes, position: end, isAtEnd: end == state.head)
    }

    /// The size in bytes at which a batch ends, as in MongoDB.
    static let changeBatchBytesMax = 16 * 1024 * 1024

    /// Returns the comment that the writer attached to a change; `nil` without one or when the feed
    /// no longer keeps the change.
    func comment(at position: Int64) throws(StoreError) -> BSONValue? {
        let statement = try connection.prepare(
            "SELECT comment FROM store_changes WHERE position = ?1")
        statement.bind(1, position)
        defer { statement.reset() }
        guard try statement.step() else { return nil }
        do {
            return try Self.document(statement, 0)?[StoreChange.commentKey]
        } catch {
            throw StoreError(.corrupt, "Change \(position) is not valid BSON", underlying: error)
        }
    }

    private func rows(
        from position: Int64, through end: Int64, in namespace: Namespace?,
        _ needsBefore: (BSONDocument?, Int) -> Bool
    ) throws(StoreError) -> (changes: [StoreChange], end: Int64) {
        let statement = try connection.prepare(
            """
            SELECT position, database, name, kind, before, after, comment FROM store_changes
            WHERE position > ?1 AND position <= ?2 ORDER BY position
            """)
        statement.bind(1, position)
        statement.bind(2, end)
        var changes: [StoreChange] = []
        var byteCount = 0
        var last = position
        while try statement.step() {
            guard statement.int64(0) > last else {
                throw StoreError(.corrupt, "Change \(last) is followed by an earlier one")
            }
            last = statement.int64(0)
            if let namespace {
                guard Self.isSame(statement, 1, namespace.database),
                    Self.isSame(statement, 2, namespace.collection)
                else { continue }
            }
            let of = namespace ?? Namespace(statement.string(1), statement.string(2))
            guard let change = try change(statement, of, needsBefore) else { continue }
            changes.append(change)
            byteCount += (change.before?.byteCount ?? 0) + (change.after?.byteCount ?? 0)
            guard byteCount < Self.changeBatchBytesMax else {
                statement.reset()
                return (changes, change.position)
            }
        }
        return (changes, end)
    }

    /// Returns the changes after a position that concern whole collections, in order; O(n) in all
    /// changes after it.
    func collectionChanges(after position: Int64) throws(StoreError) -> [StoreChange] {
        let statement = try connection.prepare(
            """
            SELECT position, database, name, kind, before, after, comment FROM store_changes
            WHERE position > ?1 AND kind > ?2 ORDER BY position
            """)
        statement.bind(1, position)
        statement.bind(2, StoreChange.Kind.delete.rawValue)
        var changes: [StoreChange] = []
        while try statement.step() {
            let of = Namespace(statement.string(1), statement.string(2))
            if let change = try change(statement, of) { changes.append(change) }
        }
        return changes
    }

    private static func isSame(
        _ statement: borrowing SQLiteStatement, _ column: Int32, _ text: String
    ) -> Bool {
        var text = text
        return statement.withBytes(column) { stored in
            text.withUTF8 {
                $0.count == stored.count
                    && BSONCursor.isEqual(UnsafeRawBufferPointer($0), stored)
            }
        }
    }

    /// Returns the change of a row; `nil` when its document is damaged and cannot be recovered.
    private func change(
        _ statement: borrowing SQLiteStatement, _ namespace: Namespace,
        _ needsBefore: (BSONDocument?, Int) -> Bool = { _, _ in true }
    ) throws(StoreError) -> StoreChange? {
        let position = statement.int64(0)
        guard let kind = StoreChange.Kind(rawValue: statement.int64(3)) else {
            throw StoreError(.corrupt, "Change \(position) has an unknown kind")
        }
        guard let image = try images.image(statement, 5, after: position, kind, namespace) else {
            return nil
        }
        do {
            return StoreChange(
                position: position, namespace: namespace, kind: kind,
                before: needsBefore(
                    image.document, statement.withBytes(4, ImagePatch.sharedCount))
                    ? try Self.document(statement, 4, beside: image.document) : nil,
                after: image.document, remarks: try Self.document(statement, 6))
        } catch {
            throw ChangeImageReader.damaged(position, namespace, error)
        }
    }

    private static func document(
        _ statement: borrowing SQLiteStatement, _ column: Int32, beside other: BSONDocument? = nil
    ) throws(BSONError) -> BSONDocument? {
        guard !statement.isNull(column) else { return nil }
        return try statement.withBytes(column) { (bytes) throws(BSONError) in
            try ImagePatch.document(bytes, beside: other)
        }
    }
}
