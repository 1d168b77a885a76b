internal import BSONStore
internal import StitchRules

/// Tells which documents of a collection were deleted, to sync, whose history does not reach back.
///
/// `{stitchsyncTombstones: "people", ids: [...], after: <resume token>}` answers with `tombstones`, as long
/// as `ids`: null for a document whose deletion is not known, else its `_id`, `version` where it had one,
/// `time`, and whether the delete `isAfter` the place in the history, by proof.
enum StitchsyncTombstonesCommand {
    static let rule = CommandDefinition(
        "stitchsyncTombstones", [], fields: ["ids": .array, "after": .document], .store(run))

    /// So many ids may be asked about at once.
    private static let idsMax = 10_000
    /// The ids and versions of an answer have so many bytes at most.
    private static let bytesMax = 12 * 1_024 * 1_024

    private static func run(_ call: CommandCall, _ store: StoreBackend) throws -> CommandOutcome {
        let namespace = try call.collection()
        guard let ids = call.array("ids") else {
            throw CommandFailure(
                40414,
                "BSON field 'stitchsyncTombstones.ids' is missing but a required field")
        }
        guard ids.count <= idsMax else {
            throw CommandFailure(
                .badValue, "ids has \(ids.count) elements; at most \(idsMax) are answered at once")
        }
        // Who may not see every document must not learn which there were.
        let none = [StoreTombstone?](repeating: nil, count: ids.count)
        var found = none
        var place: Int64?
        if try !isLimited(namespace, call, store) {
            let token = call.document("after")
            (found, place) = try store.read(call) { transaction in
                let place = try token.flatMap { try Self.position($0, transaction) }
                return (try transaction.unrestrictedTombstones(namespace, ids: Array(ids)), place)
            }
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
            let answer = document(tombstone, after: place)
            bytes += answer.byteCount
            guard bytes <= bytesMax else {
                throw CommandFailure(
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

    /// The position of a place that is one of this history, as far as is known; `nil` for another.
    private static func position(
        _ token: BSONDocument, _ transaction: ReadTransaction
    ) throws -> Int64? {
        do {
            let place = try ChangeStreamPosition(token: token)
            guard place.position <= (try transaction.changePosition) else { return nil }
            try place.check(transaction)
            return place.position
        } catch is CommandFailure {
            return nil
        } catch let error as StoreError where error.code == .changeStreamHistoryLost {
            // The feed does not reach back so far: nothing speaks against the place.
            return try ChangeStreamPosition(token: token).position
        }
    }

    private static func document(
        _ tombstone: StoreTombstone, after place: Int64?
    ) -> BSONDocument {
        var document: BSONDocument = ["_id": tombstone.documentID]
        if let version = tombstone.version { document.append("version", version) }
        document.append("time", .datetime(tombstone.deletedAt))
        document.append("isAfter", .bool(place.map { tombstone.position > $0 } ?? false))
        return document
    }
}
