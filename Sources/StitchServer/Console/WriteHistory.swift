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
    /// The ages, in seconds, at which the search tries to begin; the last is of a server whose clock
    /// is ahead.
    private static let ages: [Int64] = [
        31_536_000, 2_592_000, 604_800, 86_400, 3_600, 300, 30, 0, -3_600,
    ]
    /// The number of openings, after which a history that is cut faster is given up.
    private static let openingsMax = 3
    /// The largest increment that is searched in the second in which a history begins.
    private static let incrementsMax: UInt64 = 1 << 20
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
        let (changes, isWhole) = try self.changes()
        return [
            "namespace": .string(namespace.description), "id": id,
            "document": document.map { .document($0) } ?? .null,
            "changes": .array(BSONArray(changes.suffix(Self.changesMax).map { .document($0) })),
            "isComplete": .bool(isWhole && changes.count <= Self.changesMax),
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

    /// Returns the changes, and whether none is known to be missing.
    private func changes() throws -> (changes: [BSONDocument], isWhole: Bool) {
        guard let (cursor, isWhole) = try opened() else { return ([], false) }
        var changes = events(cursor["firstBatch"])
        guard let cursorID = cursor["id"], cursorID.int64Value != 0 else {
            return (changes, isWhole)
        }
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
        try close([cursorID])
        return (changes, isWhole && emptyCount == Self.emptyMax)
    }

    private func close(_ cursors: [BSONValue]) throws {
        guard !cursors.isEmpty else { return }
        _ = try run(
            ["killCursors": .string(namespace.collection), "cursors": .array(BSONArray(cursors))],
            on: namespace.database)
    }

    /// Opens a stream as early in the history as possible, and returns whether the history reaches
    /// back to any time; `nil` if it holds nothing.
    private func opened() throws -> (cursor: BSONDocument, isWhole: Bool)? {
        let filter: BSONValue = ["$match": ["documentKey._id": ["$eq": id]]]
        // The history may lose its oldest changes between a search and the opening.
        for _ in 0..<Self.openingsMax {
            guard let (start, isWhole) = try beginning() else { return nil }
            if let cursor = try stream(from: start, [filter], batchSize: nil) {
                return (cursor, isWhole)
            }
        }
        return nil
    }

    /// Returns the earliest time from which the history holds all changes, and whether it is so
    /// early that the history was not cut; `nil` if it holds nothing.
    private func beginning() throws -> (time: UInt64, isWhole: Bool)? {
        var probes: [BSONValue] = []
        func holds(_ time: UInt64) throws -> Bool {
            // A batch of one: MongoDB looks into its history only to fill a batch.
            guard let cursor = try stream(from: time, [], batchSize: 1) else { return false }
            if let id = cursor["id"], id.int64Value != 0 { probes.append(id) }
            return true
        }
        let found = Result { try Self.earliest(now: BSONDatetime.now.milliseconds / 1_000, holds) }
        try close(probes)
        return try found.get()
    }

    /// Searches for the earliest time of a history.
    ///
    /// - Parameters:
    ///   - now: the seconds since 1970.
    ///   - holds: whether the history holds all changes from a time on: seconds in the upper and an
    ///     increment in the lower half.
    static func earliest(
        now: Int64, _ holds: (UInt64) throws -> Bool
    ) throws -> (time: UInt64, isWhole: Bool)? {
        var refused: UInt64?
        // From the beginning of time only a history is held that was never cut.
        for age in [now] + ages {
            let time = UInt64(UInt32(clamping: now - age)) << 32 | 1
            guard try holds(time) else {
                refused = time
                continue
            }
            guard let early = refused else { return (time, true) }
            return (try search(after: early, through: time, holds), false)
        }
        return nil
    }

    /// Searches between a refused and an accepted time, first by the second, then in the second that
    /// is held in part.
    private static func search(
        after refused: UInt64, through accepted: UInt64, _ holds: (UInt64) throws -> Bool
    ) throws -> UInt64 {
        var (refused, accepted) = (refused, accepted)
        func narrow(to unit: UInt64) throws {
            while accepted - refused > unit {
                let middle = refused + (accepted - refused) / unit / 2 * unit
                if try holds(middle) { accepted = middle } else { refused = middle }
            }
        }
        try narrow(to: 1 << 32)
        let last = refused + incrementsMax
        guard try holds(last) else { return accepted }
        accepted = last
        try narrow(to: 1)
        return accepted
    }

    /// Opens a stream; `nil` if the history does not reach back to the time.
    private func stream(
        from time: UInt64, _ filter: [BSONValue], batchSize: Int32?
    ) throws -> BSONDocument? {
        let start = BSONTimestamp(
            seconds: UInt32(time >> 32), increment: UInt32(truncatingIfNeeded: time))
        let stage: BSONValue = ["$changeStream": ["startAtOperationTime": .timestamp(start)]]
        let cursor: BSONDocument = batchSize.map { ["batchSize": .int32($0)] } ?? [:]
        do {
            return try run(
                [
                    "aggregate": .string(namespace.collection),
                    "pipeline": .array(BSONArray([stage] + filter)),
                    "cursor": .document(cursor),
                ], on: namespace.database)["cursor"]?.documentValue
        } catch let refusal as Refusal where refusal.code == Self.historyLost {
            return nil
        }
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
