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

        /// Runs the query; tells whether there may be documents that rules hide, as `stitchsync serve
        /// --rules` says.
        func answer(
            _ client: MongoClient
        ) throws(MongoFailure) -> (documents: [BSONDocument], viewIsLimited: Bool) {
            let session = try client.session()
            defer { session.end() }
            var cursor = try MongoCursor(
                client.run(command, on: namespace.database, .pinned, in: session))
            var documents = cursor.batch
            var viewIsLimited = cursor.viewIsLimited
            while cursor.id != 0 {
                let more: BSONDocument = [
                    "getMore": .int64(cursor.id), "collection": .string(namespace.collection),
                    "batchSize": .int32(Self.batchSize),
                ]
                cursor = try MongoCursor(
                    client.run(more, on: namespace.database, .pinned, in: session))
                documents += cursor.batch
                viewIsLimited = viewIsLimited || cursor.viewIsLimited
            }
            return (documents, viewIsLimited)
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
