internal import BSONStore

/// Inserts documents.
///
/// Source: MongoDB manual, "insert"; the server's `write_ops.idl`.
enum InsertCommand {
    static let rule = CommandDefinition(
        "insert", .write,
        fields: [
            "documents": .array, "ordered": .flag, "bypassDocumentValidation": .flag,
            "stmtId": .number, "stmtIds": .array, "maxTimeMS": .number,
            "collectionUUID": .any, "encryptionInformation": .document,
            "bypassEmptyTsReplacement": .bool,
        ], required: ["documents"], .store(run))

    private static func run(_ call: CommandCall, _ store: StoreBackend) throws -> CommandOutcome {
        let namespace = try call.collection()
        try namespace.checkWritable()
        let documents = try call.documents("documents")
        try WriteBatch.checkCount(documents.count)
        let isOrdered = call["ordered"]?.isTrue ?? true
        let keepsEmptyTimestamps = call.flag("bypassEmptyTsReplacement")
        let reply = try store.runner.reply(call) { transaction in
            var batch = WriteBatch(isOrdered: isOrdered)
            for (index, document) in documents.enumerated() {
                try call.checkTime()
                store.runner.begin(statement: index, in: transaction)
                let fault = try WriteBatch.attempt(transaction) {
                    do throws(StoreError) {
                        try transaction.insert(
                            namespace,
                            keepsEmptyTimestamps
                                ? document : WallClock.fillingTimestamps(in: document))
                    } catch {
                        throw WriteBatch.failure(ofInsert: error)
                    }
                    batch.count += 1
                }
                if let fault, !batch.goesOn(after: fault, at: index) { break }
            }
            return batch.reply
        }
        return .reply(reply)
    }
}
