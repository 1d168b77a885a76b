#if MongoRemote
    internal import BSONStore
    internal import StitchCommands

    /// A query that reads its complete result from one server with `majority`.
    struct MongoQuery: Sendable {
        let namespace: Namespace
        let filter: BSONDocument
        var projection: BSONDocument?
        var sort: BSONDocument?
        /// The largest number of documents; 0 for all.
        var limit: Int64 = 0
        /// The size of the documents in bytes at which no further batch is read.
        var bytesMax = Int.max

        /// The largest number of documents in a batch; a batch also ends at 16 MiB.
        private static let batchSize: Int32 = 10_000

        init(_ namespace: Namespace, filter: BSONDocument) {
            self.namespace = namespace
            self.filter = filter
        }

        private var command: BSONDocument {
            var command: BSONDocument = [
                "find": .string(namespace.collection), "filter": .document(filter),
            ]
            if let projection { command.append("projection", .document(projection)) }
            if let sort { command.append("sort", .document(sort)) }
            if limit > 0 { command.append("limit", .int64(limit)) }
            command.append("batchSize", .int32(Self.batchSize))
            command.append("readConcern", ["level": "majority"])
            return command
        }

        /// Runs the query and returns the documents in the server's order.
        func run(_ client: MongoClient) throws(MongoFailure) -> [BSONDocument] {
            try answer(client).documents
        }

        /// The result of a query.
        struct Answer {
            var documents: [BSONDocument]
            /// Whether rules may hide documents, as `stitchsync serve --rules` reports.
            var viewIsLimited: Bool
            /// Whether there may be further documents that were not read.
            var isCut = false
            fileprivate var byteCount = 0

            fileprivate init(_ cursor: MongoCursor) {
                documents = cursor.batch
                viewIsLimited = cursor.viewIsLimited
                byteCount = cursor.byteCount
            }

            fileprivate mutating func add(_ cursor: MongoCursor) {
                documents += cursor.batch
                viewIsLimited = viewIsLimited || cursor.viewIsLimited
                byteCount += cursor.byteCount
            }
        }

        /// Runs the query and returns its result.
        func answer(_ client: MongoClient) throws(MongoFailure) -> Answer {
            let session = try client.session()
            defer { session.end() }
            var cursor = try MongoCursor(
                client.run(command, on: namespace.database, .pinned, in: session))
            var answer = Answer(cursor)
            while cursor.id != 0 {
                guard answer.byteCount < bytesMax else {
                    answer.isCut = true
                    _ = try client.run(
                        MongoCursor.kill(cursor.id, of: namespace), on: namespace.database,
                        .pinned, in: session)
                    return answer
                }
                let more: BSONDocument = [
                    "getMore": .int64(cursor.id), "collection": .string(namespace.collection),
                    "batchSize": .int32(Self.batchSize),
                ]
                cursor = try MongoCursor(
                    client.run(more, on: namespace.database, .pinned, in: session))
                answer.add(cursor)
            }
            return answer
        }
    }

    /// A reply with a cursor.
    struct MongoCursor: Sendable {
        /// The cursor's number; 0 when it is exhausted.
        let id: Int64
        let batch: [BSONDocument]
        /// The token from which a change stream continues after the batch.
        let token: BSONDocument?
        /// The server's time of the answer, if reported.
        let operationTime: BSONTimestamp?
        /// Whether rules may hide documents, according to the server.
        let viewIsLimited: Bool

        /// The size of the batch's documents in bytes.
        var byteCount: Int { batch.reduce(0) { $0 + $1.byteCount } }

        /// Returns the command that closes a cursor early.
        static func kill(_ id: Int64, of namespace: Namespace) -> BSONDocument {
            ["killCursors": .string(namespace.collection), "cursors": [.int64(id)]]
        }

        init(_ reply: BSONDocument) throws(MongoFailure) {
            guard let cursor = reply["cursor"]?.documentValue, let id = cursor["id"]?.int64Value,
                let batch = (cursor["firstBatch"] ?? cursor["nextBatch"])?.arrayValue
            else {
                throw MongoFailure(kind: .protocolError, message: "a reply without a cursor")
            }
            self.id = id
            viewIsLimited = reply["viewIsLimited"]?.boolValue ?? false
            self.batch = batch.compactMap(\.documentValue)
            token = cursor["postBatchResumeToken"]?.documentValue
            operationTime =
                if case .timestamp(let time) = reply["operationTime"] { time } else { nil }
        }
    }
#endif
