#if MongoRemote
    internal import BSONStore
    internal import StitchSync

    /// Is an open change stream of one collection, for one reader at a time.
    ///
    /// It keeps a client to itself, since a cursor belongs to the session that made it.
    final class MongoChangeStream: Sendable {
        private struct State {
            var client: MongoClient?
            var session: MongoSession?
            var cursor: Int64 = 0
            var position: ResumeToken?
            /// Events that were read and not given out.
            var buffer: [BSONDocument] = []
            /// Where the stream stands after the buffer.
            var end: BSONDocument?
            /// The server's time when it gave the last batch.
            var endTime: BSONTimestamp?
            /// The last batch ended before it was full.
            var isPartial = false
        }

        private let pool: MongoClientPool
        private let namespace: Namespace
        private let state: Locked<State>

        /// How long a history that lags behind what is acknowledged is waited for.
        private static let lagMax: Duration = .seconds(10)
        /// More than is given out at a time, so that a batch mostly ends where the history does.
        private static let batchSize: Int32 = 2_000
        /// A batch of fewer bytes did not end because it was full.
        private static let batchBytes = 4_000_000

        /// Makes a stream that begins after a place, or now.
        init(pool: MongoClientPool, namespace: Namespace, after token: ResumeToken?) {
            self.pool = pool
            self.namespace = namespace
            state = Locked(State(position: token))
        }

        deinit { close(killsCursor: false) }

        /// The place after what was given out.
        var position: ResumeToken? { state.withLock { $0.position } }

        /// Whether a cursor is open.
        var isOpen: Bool { state.withLock { $0.cursor != 0 } }

        /// Opens the stream now, and gives its place.
        func open() throws(RemoteError) -> ResumeToken {
            do throws(MongoFailure) {
                let time = try state.withLock { (state) throws(MongoFailure) in
                    try self.open(&state).operationTime
                }
                if let position { return position }
                guard let time else {
                    throw MongoFailure(kind: .protocolError, message: "the server names no place")
                }
                let token = ResumeToken(["at": .timestamp(time)])
                state.withLock { $0.position = token }
                return token
            } catch {
                close()
                throw error.remoteError
            }
        }

        /// Reads the next changes.
        ///
        /// - Parameter slice: how long the server may be asked to wait at a time; `nil` ends the wait.
        func read(
            limit: Int, waitingUpTo wait: Duration, slice: () -> Duration?
        ) throws(RemoteError) -> RemoteChangeBatch {
            do throws(MongoFailure) {
                return try state.withLock { (state) throws(MongoFailure) in
                    try self.read(&state, limit: limit, wait: wait, slice: slice)
                }
            } catch {
                close()
                throw error.remoteError
            }
        }

        /// Ends the cursor and gives the client back; the server need not hear of it.
        func close(killsCursor: Bool = true) {
            state.withLock { state in
                guard let client = state.client else { return }
                if killsCursor, state.cursor != 0, let session = state.session {
                    // The server forgets a cursor whose end it does not hear of.
                    _ = Result { () throws(MongoFailure) in
                        try client.run(
                            MongoCursor.kill(state.cursor, of: namespace),
                            on: namespace.database, .pinned, in: session)
                    }
                }
                state.session?.end()
                pool.giveBack(client)
                state.client = nil
                state.session = nil
                state.cursor = 0
                state.buffer = []
            }
        }
    }

    extension MongoChangeStream {
        /// What is asked of each event: enough to know the edition, not more.
        static let projection: BSONDocument = [
            "operationType": 1, "documentKey": 1, "fullDocument": 1, "leftView": 1,
            "updateDescription.removedFields": 1,
            MongoChange.versionFields: [
                "$filter": [
                    "input": ["$objectToArray": "$updateDescription.updatedFields"],
                    "cond": [
                        // Not by a part of so many bytes, which must not end inside of a letter.
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

        private func open(_ state: inout State) throws(MongoFailure) -> MongoCursor {
            var options = BSONDocument()
            if let position = state.position?.document {
                if let time = position["at"] {
                    options.append("startAtOperationTime", time)
                } else {
                    options.append("resumeAfter", .document(position))
                }
            }
            let command: BSONDocument = [
                "aggregate": .string(namespace.collection),
                "pipeline": [
                    ["$changeStream": .document(options)], ["$project": .document(Self.projection)],
                ],
                "cursor": ["batchSize": .int32(Self.batchSize)],
                "readConcern": ["level": "majority"],
            ]
            let client = pool.client()
            state.client = client
            let session = try client.session()
            state.session = session
            let cursor = try MongoCursor(
                client.run(command, on: namespace.database, .pinned, in: session))
            take(cursor, &state)
            return cursor
        }

        private func more(_ state: inout State, for time: Duration) throws(MongoFailure)
            -> MongoCursor
        {
            guard let client = state.client, let session = state.session, state.cursor != 0 else {
                return try open(&state)
            }
            let command: BSONDocument = [
                "getMore": .int64(state.cursor), "collection": .string(namespace.collection),
                "batchSize": .int32(Self.batchSize), "maxTimeMS": .int64(max(1, time.milliseconds)),
            ]
            let cursor = try MongoCursor(
                client.run(command, on: namespace.database, .pinned, in: session))
            take(cursor, &state)
            return cursor
        }

        private func take(_ cursor: MongoCursor, _ state: inout State) {
            state.cursor = cursor.id
            state.buffer += cursor.batch
            state.end = cursor.token ?? cursor.batch.last?["_id"]?.documentValue ?? state.end
            state.endTime = cursor.operationTime
            state.isPartial =
                cursor.batch.count < Self.batchSize
                && cursor.batch.reduce(0) { $0 + $1.byteCount } < Self.batchBytes
            if state.buffer.isEmpty, let end = state.end { state.position = ResumeToken(end) }
        }

        private func read(
            _ state: inout State, limit: Int, wait: Duration, slice: () -> Duration?
        ) throws(MongoFailure) -> RemoteChangeBatch {
            let clock = ContinuousClock()
            let start = clock.now
            var target: BSONTimestamp?
            while state.buffer.isEmpty {
                let rest = wait - (clock.now - start)
                let isLagging =
                    target.flatMap { target in
                        state.position?.time.map { $0 < target }
                    } ?? false
                if target != nil, rest <= .zero {
                    guard isLagging else { break }
                    guard rest > .zero - Self.lagMax else {
                        throw MongoFailure(kind: .network, message: "the history lags behind")
                    }
                }
                guard let slice = slice() else { break }
                let time = isLagging ? .milliseconds(50) : min(slice, max(rest, .zero))
                // What opens a stream gives out its place at once, before it has looked for changes.
                let isOpening = state.cursor == 0
                let cursor = try more(&state, for: time)
                if !isOpening {
                    target =
                        target ?? cursor.operationTime ?? BSONTimestamp(seconds: 0, increment: 0)
                }
                if cursor.id == 0 && state.buffer.isEmpty {
                    throw MongoFailure(kind: .server, code: 286, message: "the stream is over")
                }
            }
            return try give(&state, limit: limit)
        }

        /// Returns out what was read, up to where the history ends.
        private func give(_ state: inout State, limit: Int) throws(MongoFailure)
            -> RemoteChangeBatch
        {
            var changes: [RemoteChange] = []
            var taken = 0
            for event in state.buffer.prefix(max(1, limit)) {
                guard let change = try MongoChange.read(event) else { break }
                changes.append(change)
                taken += 1
                state.position = event["_id"]?.documentValue.map(ResumeToken.init) ?? state.position
            }
            if taken == 0, !state.buffer.isEmpty {
                throw MongoFailure(
                    kind: .collectionDropped, code: 286,
                    message: "the collection was dropped or renamed")
            }
            state.buffer.removeFirst(taken)
            if state.buffer.isEmpty, let end = state.end { state.position = ResumeToken(end) }
            guard let token = state.position else {
                throw MongoFailure(kind: .protocolError, message: "the server names no place")
            }
            return RemoteChangeBatch(
                changes: changes, token: token, hasMore: taken > 0 && !Self.isAtEnd(state))
        }

        /// Everything was given out that the server had when it was last asked.
        private static func isAtEnd(_ state: State) -> Bool {
            guard state.buffer.isEmpty, state.isPartial else { return false }
            // Behind a sharded cluster's router a batch may end early; its token tells.
            guard let end = state.end.map(ResumeToken.init)?.time, let now = state.endTime else {
                return true
            }
            return end >= now
        }
    }

    extension ResumeToken {
        /// The time in a token of MongoDB's own form; `nil` for another form.
        ///
        /// Source: MongoDB's `resume_token.cpp`: a key string that begins with a timestamp, which is
        /// followed by a small number.
        var time: BSONTimestamp? {
            if case .timestamp(let time) = document["at"] { return time }
            guard let text = document["_data"]?.stringValue, text.utf8.count >= 26,
                text.hasPrefix("82"), text.dropFirst(18).hasPrefix("2B"),
                let seconds = UInt32(text.dropFirst(2).prefix(8), radix: 16),
                let increment = UInt32(text.dropFirst(10).prefix(8), radix: 16)
            else { return nil }
            return BSONTimestamp(seconds: seconds, increment: increment)
        }
    }
#endif
