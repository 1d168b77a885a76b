internal import BSONStore

/// Returns the distinct values of a field.
enum DistinctCommand {
    static let definition = CommandDefinition(
        "distinct", aliases: [], [.inTransaction, .takesReadConcern, .takesSnapshot],
        fields: [
            "key": .string, "query": .document, "collation": .document, "hint": .hint,
            "collectionUUID": .any, "encryptionInformation": .document, "mirrored": .bool,
        ], required: ["key"],
        privileges: .access(.read), underRules: .reads(.documents), gateway: .upstream,
        statements: nil, cursor: .none, .store(run))

    private static func run(_ call: CommandCall, _ backend: StoreBackend) throws -> CommandOutcome {
        let namespace = try call.collection()
        guard let key = call.string("key") else {
            throw CommandFailure(
                40414, "BSON field 'distinct.key' is missing but a required field")
        }
        guard !key.isEmpty else {
            throw CommandFailure(40352, "FieldPath cannot be constructed with empty string")
        }
        guard !key.utf8.contains(0) else {
            throw CommandFailure(31032, "Key field cannot contain an embedded null byte")
        }
        let filter = try CommandCall.filter(
            call.document("query"), variables: nil, collation: call["collation"], hasNow: false)
        let values = try backend.read(call) { transaction in
            try transaction.checkCollation(call.document("collation"), of: namespace)
            try CommandCall.checkHint(call["hint"], namespace, in: transaction)
            do {
                return try transaction.distinct(
                    namespace, field: key, filter: filter, hint: try call.hint())
            } catch {
                throw CommandFailure.framed(error, "Executor error during distinct command")
            }
        }
        let array = BSONArray(values)
        guard BSONDocument([("values", .array(array))]).byteCount <= BatchLimits.bytesMax else {
            throw CommandFailure(17217, "distinct too big, 16mb cap")
        }
        var reply: BSONDocument = ["values": .array(array)]
        if let time = call.snapshot?.time { reply.append("atClusterTime", .timestamp(time)) }
        return .reply(reply)
    }
}
