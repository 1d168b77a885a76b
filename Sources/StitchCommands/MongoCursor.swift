internal import BSONStore

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
