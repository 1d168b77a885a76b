internal import BSONStore
internal import StitchSync

/// A change stream of one collection, which one reader at a time holds.
///
/// It occupies a session, since a cursor belongs to the session that created it.
struct MongoChangeStream: Sendable {
    private let server: any MongoServer
    private let namespace: Namespace
    /// The device's own changes that are left out; `nil` to return all.
    private let own: OwnOperations?
    /// The token after the returned changes.
    private(set) var position: ResumeToken?
    /// A token before ``position``, with no change between the two.
    private var origin: ResumeToken?
    private var session: (any MongoSession)?
    private var cursor: Int64 = 0
    /// The events read but not yet returned.
    private var buffer: [BSONDocument] = []
    /// The stream's token after the buffer.
    private var end: BSONDocument?
    /// The server's time of the last batch.
    private var endTime: BSONTimestamp?
    /// Whether the last batch ended before it was full.
    private var isPartial = false
    /// The largest number of events in a batch.
    private var batchSize = Self.batchSizeMin

    /// The longest wait for a history that lags behind acknowledged writes.
    private static let lagMax: Duration = .seconds(10)
    /// The wait in one command for a history that lags behind.
    private static let lagWait: Duration = .milliseconds(50)
    /// More than one read usually returns, so that a batch ends where the history does.
    private static let batchSizeMin: Int32 = 2_000
    /// The size in bytes below which a batch did not end because it was full.
    private static let batchBytes = 4_000_000

    /// Makes a stream that begins after a token, or now.
    init(
        server: any MongoServer, namespace: Namespace, after token: ResumeToken?,
        leavingOut own: OwnOperations? = nil
    ) {
        self.server = server
        self.namespace = namespace
        self.own = own
        position = token
        origin = token
    }

    /// Whether the next changes after a token are this stream's next ones.
    func isAt(_ token: ResumeToken, leavingOut own: OwnOperations?) -> Bool {
        guard position == token || origin == token else { return false }
        guard let own, let mine = self.own else { return own == nil && self.own == nil }
        return own.continues(mine)
    }

    /// Whether a cursor is open.
    var isOpen: Bool { cursor != 0 }

    /// Opens the stream now and returns its token; a stream that fails is closed.
    mutating func open() async throws(MongoFailure) -> ResumeToken {
        do throws(MongoFailure) {
            let time = try await openCursor().operationTime
            if let position { return position }
            guard let time else {
                throw MongoFailure(kind: .protocolError, message: "the server names no place")
            }
            let token = ResumeToken(["at": .timestamp(time)])
            (position, origin) = (token, token)
            return token
        } catch {
            close()
            throw error
        }
    }

    /// Reads the next changes; a stream that fails is closed.
    ///
    /// - Parameter isWanted: whether a wait goes on, asked before each command.
    mutating func read(
        limit: Int, waitingUpTo wait: Duration, while isWanted: () -> Bool
    ) async throws(MongoFailure) -> RemoteChangeBatch {
        batchSize = max(Self.batchSizeMin, Int32(clamping: limit))
        do throws(MongoFailure) {
            try await fill(wait, isWanted)
            return try take(limit)
        } catch {
            close()
            throw error
        }
    }

    /// Closes the cursor and ends the session.
    mutating func close() {
        let id = MongoCursorID(id: cursor, namespace: namespace)
        session?.end(killing: cursor == 0 ? nil : id)
        session = nil
        cursor = 0
        buffer = []
    }
}

extension MongoChangeStream {
    /// The fields of each event: only enough to learn the document's version.
    static let projection: BSONDocument = [
        "operationType": 1, "documentKey": 1, "fullDocument": 1, "leftView": 1,
        "updateDescription.removedFields": 1,
        MongoChange.versionFields: [
            "$filter": [
                "input": ["$objectToArray": "$updateDescription.updatedFields"],
                "cond": [
                    // Not by a substring of bytes, which must not end inside a character.
                    "$eq": [
                        [
                            "$indexOfBytes": [
                                "$$this.k", .string(DocumentVersion.fieldName),
                            ]
                        ], 0,
                    ]
                ],
            ]
        ],
    ]

    private mutating func openCursor() async throws(MongoFailure) -> MongoCursor {
        var options = BSONDocument()
        if let position = position?.document {
            if let time = position["at"] {
                options.append("startAtOperationTime", time)
            } else {
                options.append("resumeAfter", .document(position))
            }
        }
        if let own, try await server.knows(.echoFilter) {
            options.append("stitchsyncLastOperation", own.last.value)
        }
        let isBrief = try await server.knows(.briefEvents)
        if isBrief { options.append("stitchsyncBriefEvents", true) }
        var pipeline: [BSONValue] = [["$changeStream": .document(options)]]
        if !isBrief { pipeline.append(["$project": .document(Self.projection)]) }
        let command: BSONDocument = [
            "aggregate": .string(namespace.collection),
            "pipeline": .array(BSONArray(pipeline)),
            "cursor": ["batchSize": .int32(batchSize)],
            "readConcern": ["level": "majority"],
        ]
        session?.end(killing: nil)
        let opened = try await server.startSession()
        session = opened
        let cursor = try MongoCursor(
            await opened.run(command, on: namespace.database, waits: false))
        note(cursor)
        return cursor
    }

    /// Returns the next batch; an opening call returns at once, before it looks for changes.
    ///
    /// - Parameter waits: whether the wait may delay others that wait, but no requests.
    private mutating func more(
        for time: Duration, waits: Bool
    ) async throws(MongoFailure) -> MongoCursor {
        guard let session, isOpen else { return try await openCursor() }
        let command: BSONDocument = [
            "getMore": .int64(cursor), "collection": .string(namespace.collection),
            "batchSize": .int32(batchSize), "maxTimeMS": .int64(max(1, time.milliseconds)),
        ]
        let cursor = try MongoCursor(
            await session.run(command, on: namespace.database, waits: waits))
        note(cursor)
        return cursor
    }

    private mutating func note(_ answer: MongoCursor) {
        cursor = answer.id
        buffer += answer.batch
        end = answer.token ?? answer.batch.last?["_id"]?.documentValue ?? end
        endTime = answer.operationTime
        isPartial = answer.batch.count < batchSize && answer.byteCount < Self.batchBytes
        if buffer.isEmpty, let end { position = ResumeToken(end) }
    }

    /// Fills the buffer, unless there is no change within the wait.
    private mutating func fill(
        _ wait: Duration, _ isWanted: () -> Bool
    ) async throws(MongoFailure) {
        let clock = ContinuousClock()
        let start = clock.now
        var target: BSONTimestamp?
        while buffer.isEmpty {
            let rest = wait - (clock.now - start)
            let isLagging = target.flatMap { target in position?.time.map { $0 < target } } ?? false
            if target != nil, rest <= .zero {
                guard isLagging else { break }
                guard rest > .zero - Self.lagMax else {
                    throw MongoFailure(kind: .network, message: "the history lags behind")
                }
            }
            guard isWanted() else { break }
            let time = isLagging ? Self.lagWait : min(server.waitMax, max(rest, .zero))
            let isOpening = !isOpen
            let cursor = try await more(for: time, waits: wait > .zero)
            if !isOpening {
                target = target ?? cursor.operationTime ?? BSONTimestamp(seconds: 0, increment: 0)
            }
            if cursor.id == 0 && buffer.isEmpty {
                throw MongoFailure(kind: .server, code: 286, message: "the stream is over")
            }
        }
    }

    /// Returns the changes read, up to the end of the history.
    private mutating func take(_ limit: Int) throws(MongoFailure) -> RemoteChangeBatch {
        var changes: [RemoteChange] = []
        var taken = 0
        for event in buffer.prefix(max(1, limit)) {
            guard let change = try MongoChange.read(event) else { break }
            changes.append(change)
            taken += 1
            position = event["_id"]?.documentValue.map(ResumeToken.init) ?? position
        }
        if taken == 0, !buffer.isEmpty {
            throw MongoFailure(
                kind: .collectionDropped, code: 286,
                message: "the collection was dropped or renamed")
        }
        buffer.removeFirst(taken)
        if buffer.isEmpty, let end { position = ResumeToken(end) }
        if taken > 0 { origin = position }
        guard let token = position else {
            throw MongoFailure(kind: .protocolError, message: "the server names no place")
        }
        return RemoteChangeBatch(
            changes: changes, token: token, hasMore: taken > 0 && !isAtEnd)
    }

    /// Whether all changes that the server had at the last request were returned.
    private var isAtEnd: Bool {
        guard buffer.isEmpty, isPartial else { return false }
        // Behind a sharded cluster's router a batch may end early; its token shows that.
        guard let end = end.map(ResumeToken.init)?.time, let now = endTime else { return true }
        return end >= now
    }
}

extension ResumeToken {
    /// The time in a token of MongoDB's own form; `nil` for other forms.
    ///
    /// Source: MongoDB's `resume_token.cpp`: a key string that begins with a timestamp,
    /// followed by a small number.
    var time: BSONTimestamp? {
        if case .timestamp(let time) = document["at"] { return time }
        guard let text = document["_data"]?.stringValue, text.utf8.count >= 26,
            text.hasBytePrefix("82"), text.dropFirst(18).hasBytePrefix("2B"),
            let seconds = UInt32(text.dropFirst(2).prefix(8), radix: 16),
            let increment = UInt32(text.dropFirst(10).prefix(8), radix: 16)
        else { return nil }
        return BSONTimestamp(seconds: seconds, increment: increment)
    }
}
