package import BSONStore

/// The changes of one document that a server's change history holds, and its denied writes.
///
/// The console and `stitchsync trace` show it.
package struct WriteHistory {
    /// A command that the server refused.
    package struct Refusal: Error, Sendable, CustomStringConvertible {
        /// MongoDB's error code.
        let code: Int32
        /// The server's message.
        package let description: String
    }

    /// Runs a command on a database and returns the reply, also one whose `ok` is 0.
    package typealias Run = (BSONDocument, String) throws -> BSONDocument

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
    /// The code of a server that refuses a user what only an administrator may read.
    private static let unauthorized: Int32 = 13

    private let namespace: Namespace
    private let id: BSONValue
    private let send: Run

    /// Prepares the reading; commands are sent when the history is read.
    package init(of id: BSONValue, in namespace: Namespace, _ send: @escaping Run) {
        self.namespace = namespace
        self.id = id
        self.send = send
    }

    /// Reads the history of the document's writes: the document, `changes` and `denied`.
    ///
    /// `denied` is `null` where the user may not read the denied writes.
    ///
    /// - Throws: ``Refusal`` with the error of a command, and the errors of sending one.
    package func document() throws -> BSONDocument {
        let found = try run(
            [
                "find": .string(namespace.collection), "filter": ["_id": ["$eq": id]], "limit": 1,
            ], on: namespace.database)
        let document = Self.documents(found, "firstBatch").first
        let denied = try denied()
        let changes = try self.changes()
        return [
            "namespace": .string(namespace.description), "id": id,
            "document": document.map { .document($0) } ?? .null,
            "changes": .array(BSONArray(changes.suffix(Self.changesMax).map { .document($0) })),
            "isComplete": .bool(changes.count <= Self.changesMax),
            "denied": denied.map { .array(BSONArray($0.map { .document($0) })) } ?? .null,
        ]
    }

    /// Returns the document's denied writes, the newest first; `nil` without the right to read them.
    private func denied() throws -> [BSONDocument]? {
        let place = DeniedWrites.namespace
        do {
            let reply = try run(
                [
                    "find": .string(place.collection), "sort": ["time": -1],
                    "filter": [
                        "collection": .string(namespace.description), "documentID": ["$eq": id],
                    ], "limit": .int32(Int32(Self.changesMax)), "singleBatch": true,
                    "batchSize": .int32(Int32(Self.changesMax)),
                ], on: place.database)
            return Self.documents(reply, "firstBatch").map(Console.denial)
        } catch let refusal as Refusal where refusal.code == Self.unauthorized {
            return nil
        }
    }

    private func run(_ command: BSONDocument, on database: String) throws -> BSONDocument {
        let reply = try send(command, database)
        guard reply["ok"] == 0.0 else { return reply }
        throw Refusal(
            code: Int32(clamping: reply["code"]?.int64Value ?? 8),
            description: reply["errmsg"]?.stringValue ?? "")
    }

    private static func documents(_ reply: BSONDocument, _ batch: String) -> [BSONDocument] {
        (reply["cursor"]?.documentValue?[batch]?.arrayValue ?? []).compactMap(\.documentValue)
    }

    private func changes() throws -> [BSONDocument] {
        guard let cursor = try opened() else { return [] }
        var changes = events(cursor["firstBatch"])
        guard let cursorID = cursor["id"], cursorID.int64Value != 0 else { return changes }
        let end = ContinuousClock.now + Self.timeMax
        var emptyCount = 0
        while emptyCount < Self.emptyMax, ContinuousClock.now < end {
            let reply = try run(
                [
                    "getMore": cursorID, "collection": .string(namespace.collection),
                    "maxTimeMS": 1,
                ], on: namespace.database)
            let next = events(reply["cursor"]?.documentValue?["nextBatch"])
            emptyCount = next.isEmpty ? emptyCount + 1 : 0
            changes += next
        }
        _ = try run(
            ["killCursors": .string(namespace.collection), "cursors": [cursorID]],
            on: namespace.database)
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
                return try run(
                    [
                        "aggregate": .string(namespace.collection),
                        "pipeline": [stage, ["$match": ["documentKey._id": ["$eq": id]]]],
                        "cursor": [:],
                    ], on: namespace.database)["cursor"]?.documentValue
            } catch let refusal as Refusal where refusal.code == Self.historyLost {
                continue
            }
        }
        return nil
    }

    private func events(_ batch: BSONValue?) -> [BSONDocument] {
        (batch?.arrayValue ?? []).compactMap(\.documentValue).map(Self.change)
    }

    /// Returns what is shown of a change event.
    private static func change(_ event: BSONDocument) -> BSONDocument {
        let update = event["updateDescription"]?.documentValue
        let updated = update?["updatedFields"]?.documentValue
        var time = BSONValue.null
        if case .datetime(let date)? = event["wallTime"] { time = .int64(date.milliseconds) }
        return [
            "time": time, "operation": event["operationType"] ?? .null,
            "version": event["fullDocument"]?.documentValue?[versionField]
                ?? updated.flatMap(version) ?? .null,
            "updated": .array(
                BSONArray(
                    (updated?.keys ?? []).filter { !$0.hasBytePrefix(versionField) }
                        .map { .string($0) })),
            "removed": update?["removedFields"] ?? [],
        ]
    }

    /// Returns the version of an update: as a whole, or its changed parts.
    private static func version(_ updated: BSONDocument) -> BSONValue? {
        if let version = updated[versionField] { return version }
        var parts = BSONDocument()
        for (key, value) in updated where key.hasBytePrefix("\(versionField).") {
            parts.append(String(key.dropFirst(versionField.count + 1)), value)
        }
        return parts.isEmpty ? nil : .document(parts)
    }

    private static let versionField = StoreTombstone.versionField
}
