#if MongoRemote
    internal import BSONStore

    /// Reads what a query finds, with `majority`, from one server to the end.
    struct MongoQuery: Sendable {
        let namespace: Namespace
        let filter: BSONDocument
        var projection: BSONDocument?
        var sort: BSONDocument?
        /// Documents at most, 0 for all.
        var limit: Int64 = 0
        /// No other batch is asked for once the documents are so many bytes.
        var bytesMax = Int.max

        /// Documents of one batch; a batch also ends at 16 MiB.
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

        /// Runs the query; the documents in the order in which the server gave them.
        func run(_ client: MongoClient) throws(MongoFailure) -> [BSONDocument] {
            try answer(client).documents
        }

        /// What a query finds.
        struct Answer {
            var documents: [BSONDocument]
            /// There may be documents that rules hide, as `stitchsync serve --rules` says.
            var viewIsLimited: Bool
            /// There may be more documents, which were not read.
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

        /// Runs the query.
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

    /// Is a reply that has a cursor.
    struct MongoCursor: Sendable {
        /// 0 when nothing is left.
        let id: Int64
        let batch: [BSONDocument]
        /// Where a change stream goes on after the batch.
        let token: BSONDocument?
        /// When the server answered, where it says so.
        let operationTime: BSONTimestamp?
        /// The server says that rules may hide documents.
        let viewIsLimited: Bool

        /// How many bytes the documents of the batch are.
        var byteCount: Int { batch.reduce(0) { $0 + $1.byteCount } }

        /// Returns the command that ends a cursor before its end.
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
