#if MongoRemote
    internal import BSONStore
    internal import StitchCommands
    internal import StitchSync

    /// A collection on a MongoDB server.
    final class MongoCollection: RemoteCollection {
        let connection: MongoConnection
        let namespace: Namespace
        /// The open streams without a reader, the most recently used last.
        private let idle = Locked<[MongoChangeStream]>([])

        /// Whether the server is not known to lack the operators for content hashes.
        private let includesContents = Locked(true)

        /// The largest number of idle open streams: one for passes, one for waits between them.
        private static let idleMax = 2

        init(connection: MongoConnection, namespace: Namespace) {
            self.connection = connection
            self.namespace = namespace
        }

        func find(ids: [BSONValue]) async throws(RemoteError) -> [RemoteLookup] {
            try await find(ids: ids, bytesMax: .max).compactMap { $0 }
        }

        func find(
            ids: [BSONValue], bytesMax: Int
        ) async throws(RemoteError) -> [RemoteLookup?] {
            var query = MongoQuery(namespace, filter: Self.filter(ids))
            query.bytesMax = bytesMax
            let all = query
            let answer = try await connection.request { (client) throws(MongoFailure) in
                try all.answer(client)
            }
            let found = Self.byKey(answer.documents)
            // In a truncated answer a missing id proves nothing.
            let missing: RemoteLookup? =
                answer.isCut ? nil : answer.viewIsLimited ? .hidden : .absent
            return ids.map { found[BSONKey.encode($0)].map(RemoteLookup.found) ?? missing }
        }

        func versions(ids: [BSONValue]) async throws(RemoteError) -> [RemoteVersionLookup] {
            let found = try await versionDocuments(ids)
            return ids.map { id in
                guard let document = found[BSONKey.encode(id)] else { return .absent }
                return .found(
                    VersionField(of: document),
                    content: document[Self.contentField]?.int64Value
                        .map(ContentFingerprint.indexKey))
            }
        }

        private func versionDocuments(
            _ ids: [BSONValue]
        ) async throws(RemoteError) -> [[UInt8]: BSONDocument] {
            var query = MongoQuery(namespace, filter: Self.filter(ids))
            let requestsContents = includesContents.withLock { $0 }
            if requestsContents {
                query.projection = Self.contents
                do throws(RemoteError) {
                    return try await byKey(query)
                } catch {
                    guard MongoErrorClass.mayLackOperators(error) else { throw error }
                }
            }
            query.projection = [DocumentVersion.fieldName: 1]
            let found = try await byKey(query)
            // The operators are unsupported: a server before 5.0, or another product with this
            // protocol.
            if requestsContents { includesContents.withLock { $0 = false } }
            return found
        }

        private static let contentField = "content"

        /// A projection to the version and a number that changes with the rest of the document.
        private static let contents: BSONDocument = [
            DocumentVersion.fieldName: 1,
            contentField: [
                "$toHashedIndexKey": [
                    "$unsetField": [
                        "field": .string(DocumentVersion.fieldName), "input": "$$ROOT",
                    ]
                ]
            ],
        ]

        private static func filter(_ ids: [BSONValue]) -> BSONDocument {
            ["_id": ["$in": .array(BSONArray(ids))]]
        }

        /// Returns the documents of a query, by the keys of their `_id`s.
        private func byKey(_ query: MongoQuery) async throws(RemoteError) -> [[UInt8]: BSONDocument]
        {
            let documents = try await connection.request { (client) throws(MongoFailure) in
                try query.run(client)
            }
            return Self.byKey(documents)
        }

        private static func byKey(_ documents: [BSONDocument]) -> [[UInt8]: BSONDocument] {
            Dictionary(
                documents.map { (BSONKey.encode($0["_id"] ?? .null), $0) }, uniquingKeysWith: { $1 }
            )
        }

        func find(
            matching filter: BSONDocument, after last: BSONValue?, limit: Int
        ) async throws(RemoteError) -> RemotePage {
            let namespace = namespace
            return try await connection.request { (client) throws(MongoFailure) in
                try RemotePaging.page(filter, after: last, limit: limit) {
                    (filter, limit) throws(MongoFailure) in
                    var query = MongoQuery(namespace, filter: filter)
                    query.sort = ["_id": 1]
                    query.limit = Int64(limit)
                    query.bytesMax = RemotePaging.bytesMax
                    return try query.run(client)
                }
            }
        }

        func count(matching filter: BSONDocument) async throws(RemoteError) -> Int? {
            let database = namespace.database
            let command: BSONDocument = [
                "count": .string(namespace.collection), "query": .document(filter),
                "maxTimeMS": .int32(Self.countTimeMaxMS), "readConcern": ["level": "majority"],
            ]
            return try await connection.request { (client) throws(MongoFailure) in
                try client.run(command, on: database, .read)["n"]?.int64Value.map { Int($0) }
            }
        }

        /// The time limit of a count; without an index the server would read the whole collection.
        private static let countTimeMaxMS: Int32 = 2_000

        /// Returns the matching ids, read in pages that each continue after the one before.
        func ids(matching filter: BSONDocument) async throws(RemoteError) -> [BSONValue] {
            var query = MongoQuery(namespace, filter: filter)
            query.projection = ["_id": 1]
            query.sort = ["_id": 1]
            let all = query
            return try await connection.request { (client) throws(MongoFailure) in
                try all.run(client).map { $0["_id"] ?? .null }
            }
        }

        func write(_ writes: [RemoteWrite]) async throws(RemoteError) -> [RemoteWriteOutcome] {
            let pool = connection.pool
            var outcomes = try await carryOut(writes)
            let refused = outcomes.indices.filter { outcomes[$0].isSignedOut }
            guard !refused.isEmpty, connection.renewed(after: pool) != nil else { return outcomes }
            let again = try await carryOut(refused.map { writes[$0] })
            for (index, outcome) in zip(refused, again) { outcomes[index] = outcome }
            return outcomes
        }

        private func carryOut(
            _ writes: [RemoteWrite]
        ) async throws(RemoteError) -> [RemoteWriteOutcome] {
            let (namespace, inBulk) = (namespace, connection.usesBulkWrite)
            return try await connection.request { (client) throws(MongoFailure) in
                var batch = MongoWriteBatch(
                    writes, client: client, namespace: namespace, inBulk: inBulk)
                return batch.carryOut()
            }
        }
    }

    extension RemoteWriteOutcome {
        /// Whether the write was refused because the connection is not authenticated.
        fileprivate var isSignedOut: Bool {
            if case .failed(let error) = self { error.isSignedOut } else { false }
        }
    }

    // MARK: - History

    extension MongoCollection {
        func currentToken() async throws(RemoteError) -> ResumeToken {
            let (connection, namespace) = (connection, namespace)
            return try await connection.requests.run { (_) throws(RemoteError) in
                try connection.reauthenticating { (pool, _) throws(RemoteError) in
                    let stream = MongoChangeStream(pool: pool, namespace: namespace, after: nil)
                    let token = try stream.open()
                    self.keep(stream)
                    return token
                }
            }
        }

        func changes(
            after token: ResumeToken, limit: Int, waitingUpTo wait: Duration
        ) async throws(RemoteError) -> RemoteChangeBatch {
            let (connection, namespace, waits) = (connection, namespace, connection.waits)
            let threads = wait == .zero ? connection.requests : waits
            return try await threads.run { (stop) throws(RemoteError) in
                try connection.reauthenticating { (pool, isNew) throws(RemoteError) in
                    let stream =
                        (isNew ? nil : self.takeIdle(at: token))
                        ?? MongoChangeStream(pool: pool, namespace: namespace, after: token)
                    let batch = try stream.read(limit: limit, waitingUpTo: wait) {
                        stop.isAsked
                            ? nil : waits.waitingCount > 0 ? .milliseconds(100) : .seconds(1)
                    }
                    self.keep(stream)
                    return batch
                }
            }
        }

        private func takeIdle(at token: ResumeToken) -> MongoChangeStream? {
            idle.withLock { streams in
                guard let place = streams.lastIndex(where: { $0.position == token }) else {
                    return nil
                }
                return streams.remove(at: place)
            }
        }

        private func keep(_ stream: MongoChangeStream) {
            guard stream.isOpen else { return }
            let tooMany = idle.withLock { streams -> MongoChangeStream? in
                streams.append(stream)
                return streams.count > Self.idleMax ? streams.removeFirst() : nil
            }
            tooMany?.close()
        }

        /// Closes the idle streams.
        func closeStreams() {
            let streams = idle.withLock { streams in
                defer { streams = [] }
                return streams
            }
            for stream in streams { stream.close() }
        }
    }
#endif
