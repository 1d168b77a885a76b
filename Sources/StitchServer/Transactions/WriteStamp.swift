internal import BSONStore

/// The time and transaction of a change, stored by the server with each change in the feed.
struct WriteStamp: Sendable, Hashable {
    /// The operation time.
    var time: BSONTimestamp
    /// The wall-clock time.
    var wallTime: BSONDatetime
    /// The session of the change's transaction.
    var session: BSONDocument?
    /// The transaction's number in its session.
    var transaction: Int64?

    /// The stamp in the form of a change's comment.
    var comment: BSONValue {
        var document: BSONDocument = ["t": .timestamp(time), "w": .datetime(wallTime)]
        if let session { document.append("lsid", .document(session)) }
        if let transaction { document.append("txn", .int64(transaction)) }
        return .document(document)
    }

    /// Creates a stamp, with the transaction if there is one.
    init(
        time: BSONTimestamp, wallTime: BSONDatetime = .now, session: BSONDocument? = nil,
        transaction: Int64? = nil
    ) {
        self.time = time
        self.wallTime = wallTime
        self.session = session
        self.transaction = transaction
    }

    /// Reads a change's comment; `nil` for a comment of another writer.
    init?(_ comment: BSONValue?) {
        guard let document = comment?.documentValue,
            case .timestamp(let time) = document["t"],
            case .datetime(let wallTime) = document["w"]
        else { return nil }
        self.init(
            time: time, wallTime: wallTime, session: document["lsid"]?.documentValue,
            transaction: document["txn"]?.int64Value)
    }
}
