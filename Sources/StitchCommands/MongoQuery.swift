package import BSONStore

/// A query that reads its complete result from one server with `majority`.
package struct MongoQuery: Sendable {
    package let namespace: Namespace
    package let filter: BSONDocument
    package var projection: BSONDocument?
    package var sort: BSONDocument?
    /// The largest number of documents; 0 for all.
    package var limit: Int64 = 0
    /// A comment, by which `stitchsync serve` knows requests for a subscription's documents.
    package var comment: String?
    /// The size of the documents in bytes at which no further batch is read.
    package var bytesMax = Int.max

    /// The largest number of documents in a batch; a batch also ends at 16 MiB.
    private static let batchSize: Int32 = 10_000

    package init(_ namespace: Namespace, filter: BSONDocument) {
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
        command.append("collation", .document(MongoCollation.simple))
        command.append("batchSize", .int32(Self.batchSize))
        command.append("readConcern", ["level": "majority"])
        if let comment { command.append("comment", .string(comment)) }
        return command
    }

    /// Runs the query and returns the documents in the server's order.
    package func run(_ server: any MongoServer) async throws(MongoFailure) -> [BSONDocument] {
        try await answer(server).documents
    }

    /// The result of a query.
    package struct Answer: Sendable {
        package fileprivate(set) var documents: [BSONDocument]
        /// Whether rules may hide documents, as `stitchsync serve --rules` reports.
        package fileprivate(set) var viewIsLimited: Bool
        /// Whether there may be further documents that were not read.
        package fileprivate(set) var isCut = false
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

    /// QueryPlanKilled: the rules for the user, or the collection, changed during the query.
    private static let queryPlanKilled = 175
    /// The number of times that a query is sent before such a change is an error.
    private static let attemptsMax = 3

    /// Runs the query and returns its result.
    package func answer(_ server: any MongoServer) async throws(MongoFailure) -> Answer {
        for _ in 1..<Self.attemptsMax {
            do throws(MongoFailure) {
                return try await answerOnce(server)
            } catch {
                guard error.kind == .server, error.code == Self.queryPlanKilled else { throw error }
            }
        }
        return try await answerOnce(server)
    }

    private func answerOnce(_ server: any MongoServer) async throws(MongoFailure) -> Answer {
        let session = try await server.startSession()
        var open: MongoCursorID?
        defer { session.end(killing: open) }
        var cursor = try MongoCursor(
            await session.run(command, on: namespace.database, waits: false))
        var answer = Answer(cursor)
        while cursor.id != 0 {
            open = MongoCursorID(id: cursor.id, namespace: namespace)
            guard answer.byteCount < bytesMax else {
                answer.isCut = true
                return answer
            }
            let more: BSONDocument = [
                "getMore": .int64(cursor.id), "collection": .string(namespace.collection),
                "batchSize": .int32(Self.batchSize),
            ]
            cursor = try MongoCursor(
                await session.run(more, on: namespace.database, waits: false))
            answer.add(cursor)
        }
        open = nil
        return answer
    }
}
