internal import BSONStore

/// The changes of one document that the server's change history holds, and its denied writes.
struct WriteHistory {
    /// The maximum number of changes, the newest ones.
    static let changesMax = 500
    /// The longest time that the search takes.
    private static let timeMax: Duration = .seconds(5)
    /// The number of batches without a change after which the history is read to its end.
    private static let emptyMax = 3
    /// The ages, in seconds, at which the search tries to begin: a history holds no older changes
    /// than it says.
    private static let ages: [Int64] = [31_536_000, 2_592_000, 604_800, 86_400, 3_600, 300, 30, 0]
    /// The code of a server whose history does not reach back to a time.
    private static let historyLost: Int32 = 286

    let console: Console
    let session: ConsoleSession
    let namespace: Namespace
    let id: BSONValue

    /// Reads the story of the document's writes.
    ///
    /// - Throws: `ConsoleFault` with the error of a command.
    func document() throws -> BSONDocument {
        let found = try console.run(
            [
                "find": .string(namespace.collection), "filter": ["_id": ["$eq": id]], "limit": 1,
            ], on: namespace.database, session)
        let batch = found["cursor"]?.documentValue?["firstBatch"]?.arrayValue ?? []
        let document = batch.lazy.compactMap(\.documentValue).first
        let denied = try console.denied(session).filter {
            $0["documentID"] == id
                && $0["namespace"]?.stringValue?.hasSameBytes(as: namespace.description) == true
        }
        let changes = try self.changes()
        return [
            "namespace": .string(namespace.description), "id": id,
            "document": document.map { .document($0) } ?? .null,
            "changes": .array(BSONArray(changes.suffix(Self.changesMax).map { .document($0) })),
            "isComplete": .bool(changes.count <= Self.changesMax),
            "denied": .array(BSONArray(denied.map { .document($0) })),
        ]
    }

    private func changes() throws -> [BSONDocument] {
        guard let cursor = try opened() else { return [] }
        var changes = events(cursor["firstBatch"])
        guard let cursorID = cursor["id"], cursorID.int64Value != 0 else { return changes }
        let end = ContinuousClock.now + Self.timeMax
        var emptyCount = 0
        while emptyCount < Self.emptyMax, ContinuousClock.now < end {
            let reply = try console.run(
                [
                    "getMore": cursorID, "collection": .string(namespace.collection),
                    "maxTimeMS": 1,
                ], on: namespace.database, session)
            let next = events(reply["cursor"]?.documentValue?["nextBatch"])
            emptyCount = next.isEmpty ? emptyCount + 1 : 0
            changes += next
        }
        _ = try console.run(
            ["killCursors": .string(namespace.collection), "cursors": [cursorID]],
            on: namespace.database, session)
        return changes
    }

    /// Opens a stream as early in the history as possible; `nil` if the history holds nothing.
    private func opened() throws -> BSONDocument? {
        let now = BSONDatetime.now.milliseconds / 1_000
        for age in Self.ages {
            let start = BSONTimestamp(
                seconds: UInt32(clamping: now - age), increment: 1)
            let stage: BSONValue = ["$changeStream": ["startAtOperationTime": .timestamp(start)]]
            do {
                return try console.run(
                    [
                        "aggregate": .string(namespace.collection),
                        "pipeline": [stage, ["$match": ["documentKey._id": ["$eq": id]]]],
                        "cursor": [:],
                    ], on: namespace.database, session)["cursor"]?.documentValue
            } catch let fault as ConsoleFault where fault.code == Self.historyLost {
                continue
            }
        }
        return nil
    }

    private func events(_ batch: BSONValue?) -> [BSONDocument] {
        (batch?.arrayValue ?? []).compactMap(\.documentValue).map(Self.change)
    }

    /// Returns what the page shows of a change event.
    private static func change(_ event: BSONDocument) -> BSONDocument {
        let update = event["updateDescription"]?.documentValue
        let updated = update?["updatedFields"]?.documentValue
        let full = event["fullDocument"]?.documentValue
        var time = BSONValue.null
        if case .datetime(let date)? = event["wallTime"] { time = .int64(date.milliseconds) }
        return [
            "time": time, "operation": event["operationType"] ?? .null,
            "version": full?[versionField] ?? updated?[versionField] ?? .null,
            "updated": .array(
                BSONArray(
                    (updated?.keys ?? []).filter { !$0.hasBytePrefix(versionField) }
                        .map { .string($0) })),
            "removed": update?["removedFields"] ?? [],
        ]
    }

    private static let versionField = "__stitch_sync_version"
}
