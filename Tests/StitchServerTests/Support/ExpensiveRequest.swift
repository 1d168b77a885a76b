import BSONStore

/// Requests that run for minutes when nothing ends them.
enum ExpensiveRequest {
    /// The documents that the joins are over.
    static let documents: [BSONDocument] = (0..<200).map { ["_id": .int32($0), "k": 1] }

    /// Joins of all documents with all, six times.
    static let joins: [BSONValue] = {
        let join: [BSONValue] = [
            [
                "$lookup": [
                    "from": "items", "localField": "k", "foreignField": "k", "as": "j",
                ]
            ], ["$unwind": "$j"],
        ]
        return Array(repeatElement(join, count: 6).joined()) + [["$count": "n"]]
    }()

    /// The command that runs stages.
    static func aggregate(_ stages: [BSONValue], limitMS: Int32? = nil) -> BSONDocument {
        var command: BSONDocument = [
            "aggregate": "items", "pipeline": .array(BSONArray(stages)), "cursor": [:],
        ]
        if let limitMS { command.append("maxTimeMS", .int32(limitMS)) }
        return command
    }
}
