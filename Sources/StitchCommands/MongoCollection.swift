package import BSONStore
package import StitchSync

/// A collection that is read and written by MongoDB's commands.
package final class MongoCollection: RemoteCollection {
    private struct Streams {
        /// The open streams without a reader, the most recently used last.
        var idle: [MongoChangeStream] = []
        var isClosed = false
    }

    let server: any MongoServer
    let namespace: Namespace
    private let streams = Locked(Streams())

    /// Whether the server is not known to lack the operators for content hashes.
    private let includesContents = Locked(true)

    /// The largest number of idle open streams: one for passes, one for waits between them.
    private static let idleMax = 2

    package init(server: any MongoServer, namespace: Namespace) {
        self.server = server
        self.namespace = namespace
    }

    package var connectionNumber: UInt64? { server.connectionCount }

    package func find(ids: [BSONValue]) async throws(RemoteError) -> [RemoteLookup] {
        try await find(ids: ids, bytesMax: .max).compactMap { $0 }
    }

    package func find(
        ids: [BSONValue], bytesMax: Int
    ) async throws(RemoteError) -> [RemoteLookup?] {
        var query = MongoQuery(namespace, filter: Self.filter(ids))
        query.bytesMax = bytesMax
        let all = query
        let answer = try await reauthenticating { (_) throws(MongoFailure) in
            try await all.answer(self.server)
        }
        let found = Self.byKey(answer.documents)
        // In a truncated answer a missing id proves nothing.
        let missing: RemoteLookup? =
            answer.isCut ? nil : answer.viewIsLimited ? .hidden : .absent
        return ids.map { found[BSONKey.encode($0)].map(RemoteLookup.found) ?? missing }
    }

    package func versions(
        ids: [BSONValue]
    ) async throws(RemoteError) -> [RemoteVersionLookup] {
        let found = try await versionDocuments(ids)
        return ids.map { id in
            guard let document = found[BSONKey.encode(id)] else { return .absent }
            return .found(VersionField(of: document), content: Self.content(of: document))
        }
    }

    private static func content(of document: BSONDocument) -> ContentFingerprint? {
        document[contentField]?.int64Value.map(ContentFingerprint.indexKey)
    }

    private func versionDocuments(
        _ ids: [BSONValue]
    ) async throws(RemoteError) -> [[UInt8]: BSONDocument] {
        Self.byKey(
            try await withContents(MongoQuery(namespace, filter: Self.filter(ids))))
    }

    /// Returns the versions of a query's documents, and the fingerprints of their contents where
    /// the server can tell.
    private func withContents(_ query: MongoQuery) async throws(RemoteError) -> [BSONDocument] {
        var query = query
        let requestsContents = includesContents.withLock { $0 }
        if requestsContents {
            query.projection = Self.contents
            do throws(RemoteError) {
                return try await run(query)
            } catch {
                guard MongoErrorClass.mayLackOperators(error) else { throw error }
            }
        }
        query.projection = [DocumentVersion.fieldName: 1]
        let found = try await run(query)
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

    private static func byKey(_ documents: [BSONDocument]) -> [[UInt8]: BSONDocument] {
        Dictionary(
            documents.map { (BSONKey.encode($0["_id"] ?? .null), $0) }, uniquingKeysWith: { $1 }
        )
    }

    private func run(_ query: MongoQuery) async throws(RemoteError) -> [BSONDocument] {
        try await reauthenticating { (_) throws(MongoFailure) in
            try await query.run(self.server)
        }
    }

    package func find(
        matching filter: BSONDocument, after last: BSONValue?, limit: Int
    ) async throws(RemoteError) -> RemotePage {
        try await RemotePaging.page(filter, after: last, limit: limit) {
            (filter, limit) async throws(RemoteError) in
            var query = MongoQuery(self.namespace, filter: filter)
            query.sort = ["_id": 1]
            query.comment = SubscriptionQuery.comment
            query.limit = Int64(limit)
            query.bytesMax = RemotePaging.bytesMax
            return try await self.run(query)
        }
    }

    package func versions(
        matching filter: BSONDocument, after last: BSONValue?, limit: Int
    ) async throws(RemoteError) -> RemoteVersionPage {
        let page = try await RemotePaging.page(filter, after: last, limit: limit) {
            (filter, limit) async throws(RemoteError) in
            var query = MongoQuery(self.namespace, filter: filter)
            query.sort = ["_id": 1]
            query.comment = SubscriptionQuery.comment
            query.limit = Int64(limit)
            return try await self.withContents(query)
        }
        return RemoteVersionPage(
            entries: page.documents.map { document in
                RemoteVersionPage.Entry(
                    documentID: document["_id"] ?? .null, version: VersionField(of: document),
                    content: Self.content(of: document))
            }, isLast: page.isLast)
    }

    package func count(matching filter: BSONDocument) async throws(RemoteError) -> Int? {
        let reply = try await read([
            "count": .string(namespace.collection), "query": .document(filter),
            "collation": .document(MongoCollation.simple),
            "maxTimeMS": .int32(Self.countTimeMaxMS), "readConcern": ["level": "majority"],
        ])
        return reply["n"]?.int64Value.map { Int($0) }
    }

    /// The time limit of a count; without an index the server would read the whole collection.
    private static let countTimeMaxMS: Int32 = 2_000

    /// Returns the matching ids in the order of `_id`.
    package func ids(matching filter: BSONDocument) async throws(RemoteError) -> [BSONValue] {
        var query = MongoQuery(namespace, filter: filter)
        query.projection = ["_id": 1]
        query.sort = ["_id": 1]
        return try await run(query).map { $0["_id"] ?? .null }
    }

    package func write(
        _ writes: [RemoteWrite]
    ) async throws(RemoteError) -> [RemoteWriteOutcome] {
        let signIn = server.signIn
        var outcomes = await sendBatch(writes)
        let refused = outcomes.indices.filter { outcomes[$0].isSignedOut }
        guard !refused.isEmpty, await server.renew(after: signIn) else { return outcomes }
        let again = await sendBatch(refused.map { writes[$0] })
        for (index, outcome) in zip(refused, again) { outcomes[index] = outcome }
        return outcomes
    }

    package func write(
        _ writes: [RemoteWrite], exchanging paths: [String]
    ) async throws(RemoteError) -> [RemoteWriteOutcome]? {
        try await reauthenticating { (_) throws(MongoFailure) in
            try await MongoExchange(
                writes: writes, paths: paths, server: self.server, namespace: self.namespace
            ).sendTogether()
        }
    }

    private func sendBatch(_ writes: [RemoteWrite]) async -> [RemoteWriteOutcome] {
        var batch = MongoWriteBatch(writes, server: server, namespace: namespace)
        return await batch.sendAll()
    }
}

extension MongoCollection {
    /// Sends a command that reads.
    func read(
        _ command: BSONDocument, on database: String? = nil
    ) async throws(RemoteError) -> BSONDocument {
        try await reauthenticating { (_) throws(MongoFailure) in
            try await self.server.run(command, on: database ?? self.namespace.database, .read)
        }
    }

    /// Runs a body, and once more with another sign-in if the server reports the connection as not
    /// authenticated; nothing was executed then.
    ///
    /// - Parameter body: receives whether the sign-in is new.
    private func reauthenticating<R: Sendable>(
        _ body: (_ isNew: Bool) async throws(MongoFailure) -> R
    ) async throws(RemoteError) -> R {
        let signIn = server.signIn
        let failure: RemoteError
        do throws(MongoFailure) {
            return try await body(false)
        } catch {
            failure = error.remoteError
        }
        guard failure.isSignedOut, await server.renew(after: signIn) else { throw failure }
        do throws(MongoFailure) {
            return try await body(true)
        } catch {
            throw error.remoteError
        }
    }
}

extension RemoteError {
    /// Whether the connection is not, or no longer, authenticated.
    fileprivate var isSignedOut: Bool {
        errorClass == .unauthenticated && [13, 391].contains(code)
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
    package func currentToken() async throws(RemoteError) -> ResumeToken {
        try await AbandonableCall.run { (_) throws(RemoteError) in
            try await self.reauthenticating { (_) throws(MongoFailure) in
                var stream = MongoChangeStream(
                    server: self.server, namespace: self.namespace, after: nil)
                let token = try await stream.open()
                self.keep(stream)
                return token
            }
        }
    }

    package func changes(
        after token: ResumeToken, limit: Int, waitingUpTo wait: Duration
    ) async throws(RemoteError) -> RemoteChangeBatch {
        try await read(after: token, limit: limit, waitingUpTo: wait, leavingOut: nil)
    }

    package func changes(
        after token: ResumeToken, limit: Int, waitingUpTo wait: Duration,
        leavingOut own: OwnOperations
    ) async throws(RemoteError) -> RemoteChangeBatch {
        try await read(after: token, limit: limit, waitingUpTo: wait, leavingOut: own)
    }

    private func read(
        after token: ResumeToken, limit: Int, waitingUpTo wait: Duration,
        leavingOut own: OwnOperations?
    ) async throws(RemoteError) -> RemoteChangeBatch {
        try await AbandonableCall.run { (isWanted) throws(RemoteError) in
            try await self.reauthenticating { (isNew) throws(MongoFailure) in
                if !isNew, var idle = self.takeIdle(at: token, leavingOut: own) {
                    do throws(MongoFailure) {
                        let batch = try await idle.read(
                            limit: limit, waitingUpTo: wait, while: isWanted)
                        self.keep(idle)
                        return batch
                    } catch {
                        // The server was restarted, or it closed the stream, since the last read.
                        guard MongoErrorClass.isOfStream(error) else { throw error }
                    }
                }
                var stream = MongoChangeStream(
                    server: self.server, namespace: self.namespace, after: token,
                    leavingOut: own)
                let batch = try await stream.read(
                    limit: limit, waitingUpTo: wait, while: isWanted)
                self.keep(stream)
                return batch
            }
        }
    }

    private func takeIdle(
        at token: ResumeToken, leavingOut own: OwnOperations?
    ) -> MongoChangeStream? {
        streams.withLock { streams in
            let place = streams.idle.lastIndex { $0.isAt(token, leavingOut: own) }
            guard let place else { return nil }
            return streams.idle.remove(at: place)
        }
    }

    /// Keeps a stream for the next reader, instead of the one that was unused for longest.
    private func keep(_ stream: MongoChangeStream) {
        guard stream.isOpen else { return }
        var surplus = streams.withLock { streams -> MongoChangeStream? in
            guard !streams.isClosed else { return stream }
            streams.idle.append(stream)
            return streams.idle.count > Self.idleMax ? streams.idle.removeFirst() : nil
        }
        surplus?.close()
    }

    /// Closes the idle streams, and those that are read once their readers return.
    package func closeStreams() {
        let idle = streams.withLock { streams in
            defer { streams.idle = [] }
            streams.isClosed = true
            return streams.idle
        }
        for var stream in idle { stream.close() }
    }
}
