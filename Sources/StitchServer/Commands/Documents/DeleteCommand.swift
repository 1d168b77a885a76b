internal import BSONStore

/// Deletes documents.
///
/// Source: MongoDB manual, "delete"; the server's `write_ops.idl`.
enum DeleteCommand {
    static let definition = CommandDefinition(
        "delete", aliases: [], .write,
        fields: [
            "deletes": .array, "ordered": .flag, "let": .document, "stmtId": .number,
            "stmtIds": .array, "bypassDocumentValidation": .flag, "runtimeConstants": .document,
            "collectionUUID": .any, "encryptionInformation": .document,
        ], required: ["deletes"],
        privileges: .access(.write), underRules: .writes, gateway: .upstream,
        statements: .deletes, cursor: .none, .store(run))

    private static func run(_ call: CommandCall, _ backend: StoreBackend) throws -> CommandOutcome {
        let namespace = try call.collection()
        try namespace.checkWritable()
        try TransactionScope.checkWrite(to: namespace, call)
        let statements = try call.documents("deletes").map { try DeleteStatement($0) }
        try WriteBatch.checkCount(statements.count)
        try call.checkRetryable(isMulti: statements.contains { $0.isMulti })
        let isOrdered = call["ordered"]?.isTrue ?? true
        let variables = call.document("let")
        let quick = statements.map { variables == nil && $0.isQuick }
        let writes = try ParsedWrites(
            quickSizes: zip(statements, quick).lazy.map { $1 ? $0.document.byteCount : nil }, call
        ) {
            try statements[$0].parsed(variables: variables)
        }
        let reply = try backend.runner.reply(call) { transaction in
            var batch = WriteBatch()
            try WriteBatch.run(
                statements.count, isOrdered: isOrdered, transaction, isQuick: { quick[$0] }
            ) { index in
                try call.checkTime()
                backend.runner.begin(statement: index, in: transaction)
                return try writes.write(at: index).run(on: namespace, transaction)
            } take: { index, result in
                switch result {
                case .success(let count): batch.count += count
                case .failure(let fault): batch.add(fault, at: index)
                }
            }
            return batch.reply
        }
        return .reply(reply)
    }
}

/// One statement of a `delete`.
struct DeleteStatement: Sendable {
    private static let bulkSchema = CommandSchema(
        fields: [
            "delete": .number, "filter": .document, "multi": .flag, "hint": .hint,
            "collation": .document,
        ], required: ["filter"])
    private static let schema = CommandSchema(
        fields: [
            "q": .document, "limit": .number, "collation": .document, "hint": .hint,
            "sampleId": .any,
        ], required: ["q", "limit"])

    let document: BSONDocument
    let query: BSONDocument
    let isMulti: Bool

    init(_ document: BSONDocument) throws {
        try Self.schema.check(document, named: "delete.deletes")
        self.document = document
        query = document["q"]?.documentValue ?? [:]
        // A fraction is an error, not cut off.
        let given = document["limit"] ?? 0
        let limit = given.wholeNumber ?? 0
        var isWhole = true
        if case .double(let number) = given { isWhole = number == number.rounded() }
        guard isWhole, limit == 0 || limit == 1 else {
            throw CommandFailure(
                .failedToParse,
                "The limit field in delete objects must be 0 or 1. Got "
                    + ShellText.text(of: given))
        }
        isMulti = limit == 0
    }

    /// Reads a delete of a `bulkWrite`.
    init(bulk document: BSONDocument) throws {
        try Self.bulkSchema.check(document, named: "bulkWrite.ops")
        self.document = document
        query = document["filter"]?.documentValue ?? [:]
        isMulti = document["multi"]?.isTrue ?? false
    }

    /// Whether the statement deletes one document, which it finds by its key.
    var isQuick: Bool { WriteBatch.isOfOneDocument(query, of: document) }

    /// Returns the statement as it is run.
    ///
    /// - Throws: the errors of an invalid filter or collation.
    func parsed(variables: BSONDocument?) throws -> ParsedDelete {
        let filter = try CommandCall.filter(
            query, variables: variables, collation: document["collation"])
        return ParsedDelete(filter: filter, isMulti: isMulti, hint: document["hint"])
    }
}

/// A statement of a `delete` whose parts are parsed.
struct ParsedDelete: Sendable {
    let filter: Filter
    let isMulti: Bool
    let hint: BSONValue?

    /// Deletes the matching documents and returns their number.
    func run(on namespace: Namespace, _ transaction: WriteTransaction) throws -> Int {
        try transaction.take(hint: hint, namespace)
        defer { transaction.hint = nil }
        if isMulti { return try transaction.deleteMany(namespace, filter: filter) }
        return try transaction.deleteOne(namespace, filter: filter) == nil ? 0 : 1
    }
}
