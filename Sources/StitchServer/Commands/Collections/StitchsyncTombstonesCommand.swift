internal import BSONStore
internal import StitchRules

/// Reports which documents of a collection were deleted, for sync clients whose feed position is
/// too old.
///
/// `{stitchsyncTombstones: "people", ids: [...], after: <resume token>}` returns `tombstones` in
/// the order of `ids`: null if no deletion is known, otherwise `_id`, `version` if the document had
/// one, `time`, and `isAfter`, which is true if the deletion provably came after the token's
/// position.
enum StitchsyncTombstonesCommand {
    static let definition = CommandDefinition(
        "stitchsyncTombstones", aliases: [], [],
        fields: ["ids": .array, "after": .document], required: [],
        privileges: .access(.read), underRules: .reads(.tombstones), gateway: .deletions,
        statements: nil, cursor: .none, .store(run))

    /// The maximum number of ids in one command.
    private static let idsMax = 10_000
    /// The maximum size of the ids and versions in a reply.
    private static let bytesMax = 12 * 1_024 * 1_024

    private static func run(_ call: CommandCall, _ backend: StoreBackend) throws -> CommandOutcome {
        let namespace = try call.collection()
        let ids = try Self.ids(call)
        // A user who may not see every document must not learn which existed.
        let none = [StoreTombstone?](repeating: nil, count: ids.count)
        var found = none
        var place: Int64?
        if try !isLimited(namespace, call, backend) {
            let token = call.document("after")
            (found, place) = try backend.read(call) { transaction in
                let place = try token.flatMap { try Self.position($0, transaction) }
                return (try transaction.unrestrictedTombstones(namespace, ids: ids), place)
            }
            // The rules may have changed meanwhile.
            if try isLimited(namespace, call, backend) { found = none }
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
            try check(bytes)
            answers.append(.document(answer))
        }
        return .reply(["tombstones": .array(BSONArray(answers))])
    }

    /// Checks the size of an answer.
    ///
    /// - Throws: 2 (BadValue) for one that is too large.
    static func check(_ bytes: Int) throws(CommandFailure) {
        guard bytes <= bytesMax else {
            throw CommandFailure(
                .badValue, "the answer is larger than \(bytesMax) bytes; ask about fewer ids")
        }
    }

    /// Returns the ids that a command asks about.
    ///
    /// - Throws: 40414 without ids, 2 (BadValue) for too many.
    static func ids(_ call: CommandCall) throws(CommandFailure) -> [BSONValue] {
        guard let ids = call.array("ids") else {
            throw CommandFailure(
                40414,
                "BSON field 'stitchsyncTombstones.ids' is missing but a required field")
        }
        guard ids.count <= idsMax else {
            throw CommandFailure(
                .badValue, "ids has \(ids.count) elements; at most \(idsMax) are answered at once")
        }
        return Array(ids)
    }

    private static func isLimited(
        _ namespace: Namespace, _ call: CommandCall, _ backend: StoreBackend
    ) throws -> Bool {
        try backend.rules.ruleGuard(call).map { !$0.access(namespace).seesAll } ?? false
    }

    /// Returns the position of a resume token; `nil` if the token is of another history.
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
            // The feed is too short to disprove the token.
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
