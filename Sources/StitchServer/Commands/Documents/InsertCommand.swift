internal import BSONStore
internal import StitchRules

/// Inserts documents.
///
/// Source: MongoDB manual, "insert"; the server's `write_ops.idl`.
enum InsertCommand {
    static let definition = CommandDefinition(
        "insert", aliases: [], .write,
        fields: [
            "documents": .array, "ordered": .flag, "bypassDocumentValidation": .flag,
            "stmtId": .number, "stmtIds": .array, "maxTimeMS": .number,
            "collectionUUID": .any, "encryptionInformation": .document,
            "bypassEmptyTsReplacement": .bool,
        ], required: ["documents"],
        privileges: .access(.write), underRules: .writes, gateway: .upstream,
        statements: .inserts, cursor: .none, .store(run))

    private static func run(_ call: CommandCall, _ backend: StoreBackend) throws -> CommandOutcome {
        let namespace = try call.collection()
        try namespace.checkWritable()
        try TransactionScope.checkWrite(to: namespace, call)
        let documents = try call.documents("documents")
        try WriteBatch.checkCount(documents.count)
        let isOrdered = call["ordered"]?.isTrue ?? true
        let reply = try backend.runner.reply(call) { transaction in
            var batch = WriteBatch()
            try WriteBatch.run(
                documents.count, isOrdered: isOrdered, transaction, isQuick: { _ in true }
            ) { index in
                try call.checkTime()
                backend.runner.begin(statement: index, in: transaction)
                do throws(StoreError) {
                    try transaction.insert(namespace, inserted(documents[index], call))
                } catch {
                    throw WriteBatch.failure(ofInsert: error)
                }
            } take: { index, result in
                switch result {
                case .success: batch.count += 1
                case .failure(let fault): batch.add(fault, at: index)
                }
            }
            return batch.reply
        }
        return .reply(reply)
    }

    private static func inserted(_ document: BSONDocument, _ call: CommandCall) -> BSONDocument {
        call.flag("bypassEmptyTsReplacement")
            ? document : WallClock.fillingTimestamps(in: document)
    }

    /// Returns the documents as they are stored if all of them are allowed; else `nil`.
    ///
    /// Whether their keys are free is for the upstream of a gateway to say.
    ///
    /// - Throws: the errors that do not concern single documents.
    static func storedIfAllAllowed(
        _ documents: [BSONDocument], _ call: CommandCall, under ruleGuard: RuleAccessPolicy
    ) throws -> [BSONDocument]? {
        let namespace = try call.collection()
        try namespace.checkWritable()
        try WriteBatch.checkCount(documents.count)
        let access = ruleGuard.access(namespace)
        return try call.discardingLateResult {
            var stored: [BSONDocument] = []
            stored.reserveCapacity(documents.count)
            for document in documents {
                try call.checkTime()
                let allowed = Result {
                    let document = try inserted(document, call).storable(in: namespace)
                    return try access.judge(from: nil, toShown: document)
                }
                guard case .success(let document?) = allowed else { return nil }
                stored.append(document)
            }
            return stored
        }
    }
}
