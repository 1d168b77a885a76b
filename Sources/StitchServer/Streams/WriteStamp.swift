internal import BSONStore

/// Says when and by whom a change was made; the server puts it beside each change in the feed.
struct WriteStamp: Sendable, Hashable {
    /// The time by which operations are ordered.
    var time: BSONTimestamp
    /// The time of the system's clock.
    var wallTime: BSONDatetime
    /// The session of the transaction that the change is part of.
    var session: BSONDocument?
    /// The transaction's number in its session.
    var transaction: Int64?

    /// The stamp as a change's comment.
    var comment: BSONValue {
        var document: BSONDocument = ["t": .timestamp(time), "w": .datetime(wallTime)]
        if let session { document.append("lsid", .document(session)) }
        if let transaction { document.append("txn", .int64(transaction)) }
        return .document(document)
    }

    /// Takes a time, and the transaction of a session where there is one.
    init(
        time: BSONTimestamp, wallTime: BSONDatetime = .now, session: BSONDocument? = nil,
        transaction: Int64? = nil
    ) {
        self.time = time
        self.wallTime = wallTime
        self.session = session
        self.transaction = transaction
    }

    /// Reads a change's comment; `nil` for one of another writer's.
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
