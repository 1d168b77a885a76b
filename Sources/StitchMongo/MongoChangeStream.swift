#if MongoRemote
    internal import BSONStore
    internal import StitchCommands
    internal import StitchSync

    /// A change stream of one collection, for one reader at a time.
    ///
    /// It occupies a client, since a cursor belongs to the session that created it.
    final class MongoChangeStream: Sendable {
        private struct State {
            var client: MongoClient?
            var session: MongoSession?
            var cursor: Int64 = 0
            var position: ResumeToken?
            /// The events read but not yet returned.
            var buffer: [BSONDocument] = []
            /// The stream's token after the buffer.
            var end: BSONDocument?
            /// The server's time of the last batch.
            var endTime: BSONTimestamp?
            /// Whether the last batch ended before it was full.
            var isPartial = false
        }

        private let pool: MongoClientPool
        private let namespace: Namespace
        private let state: Locked<State>

        /// The longest wait for a history that lags behind acknowledged writes.
        private static let lagMax: Duration = .seconds(10)
        /// More than one read returns, so that a batch usually ends where the history does.
        private static let batchSize: Int32 = 2_000
        /// The size in bytes below which a batch did not end because it was full.
        private static let batchBytes = 4_000_000

        /// Makes a stream that begins after a token, or now.
        init(pool: MongoClientPool, namespace: Namespace, after token: ResumeToken?) {
            self.pool = pool
            self.namespace = namespace
            state = Locked(State(position: token))
        }

        deinit { close(killsCursor: false) }

        /// The token after the returned changes.
        var position: ResumeToken? { state.withLock { $0.position } }

        /// Whether a cursor is open.
        var isOpen: Bool { state.withLock { $0.cursor != 0 } }

        /// Opens the stream now and returns its token.
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
        /// - Parameter slice: returns the longest time that the server may wait in one call; `nil`
        ///   ends the wait.
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

        /// Closes the cursor and returns the client to the pool; a failure to notify the server is
        /// ignored.
        func close(killsCursor: Bool = true) {
            state.withLock { state in
                guard let client = state.client else { return }
                if killsCursor, state.cursor != 0, let session = state.session {
                    // The server times out a cursor that it is not asked to close.
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
                // An opening call returns the token at once, before it looks for changes.
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

        /// Returns the changes read, up to the end of the history.
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

        /// Whether all changes that the server had at the last request were returned.
        private static func isAtEnd(_ state: State) -> Bool {
            guard state.buffer.isEmpty, state.isPartial else { return false }
            // Behind a sharded cluster's router a batch may end early; its token shows that.
            guard let end = state.end.map(ResumeToken.init)?.time, let now = state.endTime else {
                return true
            }
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
                text.hasPrefix("82"), text.dropFirst(18).hasPrefix("2B"),
                let seconds = UInt32(text.dropFirst(2).prefix(8), radix: 16),
                let increment = UInt32(text.dropFirst(10).prefix(8), radix: 16)
            else { return nil }
            return BSONTimestamp(seconds: seconds, increment: increment)
        }
    }
#endif
