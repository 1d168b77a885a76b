internal import BSONStore

/// A query that a gateway sends upstream.
struct UpstreamQuery: Sendable {
    var filter: BSONDocument = [:]
    var projection: BSONDocument?
    var sort: BSONDocument?
    var skip = 0
    /// The maximum number of documents; 0 for no limit.
    var limit = 0
    var collation: BSONDocument?
    var variables: BSONDocument?
    /// Whether each document comes with its record id, by which the order of insertion is known.
    var showsRecordIDs = false
    /// Whether only what cannot be rolled back is read, as the answer to a client.
    var isCommitted = true
    /// Whether it must see what was written just now.
    var isNewest = false
    /// Whether the result is small, as of a few ids: it is then read without a session.
    var isSmall = false

    /// The largest number of documents that make a small result.
    static let smallMax = 100
    /// The longest wait for a majority that confirms the newest state.
    private static let newestMaxMS: Int32 = 2_000

    /// Returns the command for a collection.
    func command(_ namespace: Namespace) -> BSONDocument {
        var command: BSONDocument = [
            "find": .string(namespace.collection), "filter": .document(filter),
        ]
        if let projection { command.append("projection", .document(projection)) }
        if let sort { command.append("sort", .document(sort)) }
        if skip > 0 { command.append("skip", .int64(Int64(skip))) }
        if limit > 0 { command.append("limit", .int64(Int64(limit))) }
        if let collation { command.append("collation", .document(collation)) }
        if let variables { command.append("let", .document(variables)) }
        if isNewest {
            command.append("readConcern", ["level": "linearizable"])
            command.append("maxTimeMS", .int32(Self.newestMaxMS))
        } else if isCommitted {
            command.append("readConcern", ["level": "majority"])
        }
        if showsRecordIDs { command.append("showRecordId", true) }
        command.append("batchSize", 1_000)
        return command
    }
}
