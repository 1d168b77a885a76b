internal import BSONStore
internal import StitchRules

/// Tells which documents of a collection were deleted, to sync, whose history does not reach back.
///
/// `{stitchsyncTombstones: "people", ids: [...]}` answers with `tombstones`, as long as `ids`: null for
/// a document whose deletion is not known, else its `_id`, `version` where it had one, and `time`.
enum StitchsyncTombstonesCommand {
    static let rule = CommandRule(
        "stitchsyncTombstones", [], fields: ["ids": .array], .store(run))

    /// So many ids may be asked about at once.
    private static let idsMax = 10_000
    /// The ids and versions of an answer have so many bytes at most.
    private static let bytesMax = 12 * 1_024 * 1_024

    private static func run(_ call: CommandCall, _ store: StoreBackend) throws -> CommandOutcome {
        let namespace = try call.collection()
        guard let ids = call.array("ids") else {
            throw CommandFault(
                40414,
                "BSON field 'stitchsyncTombstones.ids' is missing but a required field")
        }
        guard ids.count <= idsMax else {
            throw CommandFault(
                .badValue, "ids has \(ids.count) elements; at most \(idsMax) are answered at once")
        }
        // Who may not see every document must not learn which there were.
        let none = [StoreTombstone?](repeating: nil, count: ids.count)
        var found = none
        if try !isLimited(namespace, call, store) {
            found = try store.read(call) { try $0.tombstonesOfAll(namespace, ids: Array(ids)) }
            // Rules may have changed meanwhile.
            if try isLimited(namespace, call, store) { found = none }
        }
        var bytes = 0
        var answers: [BSONValue] = []
        for tombstone in found {
            guard let tombstone else {
                answers.append(.null)
                continue
            }
            let answer = document(tombstone)
            bytes += answer.byteCount
            guard bytes <= bytesMax else {
                throw CommandFault(
                    .badValue, "the answer is larger than \(bytesMax) bytes; ask about fewer ids")
            }
            answers.append(.document(answer))
        }
        return .reply(["tombstones": .array(BSONArray(answers))])
    }

    private static func isLimited(
        _ namespace: Namespace, _ call: CommandCall, _ store: StoreBackend
    ) throws -> Bool {
        try store.ruleGuard(call).map { !$0.access(namespace).seesAll } ?? false
    }

    private static func document(_ tombstone: StoreTombstone) -> BSONDocument {
        var document: BSONDocument = ["_id": tombstone.documentID]
        if let version = tombstone.version { document.append("version", version) }
        document.append("time", .datetime(tombstone.deletedAt))
        return document
    }
}
