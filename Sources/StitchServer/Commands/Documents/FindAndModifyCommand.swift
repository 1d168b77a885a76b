internal import BSONStore

/// Changes or deletes one document, and returns it as it was before or after.
///
/// Source: MongoDB manual, "findAndModify"; the server's `find_and_modify.idl`.
enum FindAndModifyCommand {
    static let definition = CommandDefinition(
        "findAndModify", aliases: ["findandmodify"], .write,
        fields: [
            "query": .document, "update": .any, "remove": .flag, "new": .flag, "upsert": .flag,
            "sort": .document, "fields": .document, "arrayFilters": .array, "hint": .any,
            "collation": .document, "let": .document, "bypassDocumentValidation": .flag,
            "stmtId": .number, "runtimeConstants": .document, "collectionUUID": .any,
            "encryptionInformation": .document, "sampleId": .any,
            "bypassEmptyTsReplacement": .bool,
        ], required: [],
        privileges: .access(.write), underRules: .writes, gateway: .upstream,
        statements: nil, cursor: .none, .store(run))

    private static func run(_ call: CommandCall, _ backend: StoreBackend) throws -> CommandOutcome {
        let namespace = try call.collection()
        try namespace.checkWritable()
        try TransactionScope.checkWrite(to: namespace, call)
        try check(call.body)
        return .reply(
            try backend.runner.reply(call) { transaction in
                return try answer(call, namespace, transaction)
            })
    }

    /// Checks that the arguments fit together, and that the update is one.
    ///
    /// - Throws: 9 (FailedToParse).
    static func check(_ body: BSONDocument) throws(CommandFailure) {
        func given(_ field: String) -> BSONValue? {
            guard let value = body[field], value.type != .null, value.type != .undefined
            else { return nil }
            return value
        }
        func flag(_ field: String) -> Bool { given(field)?.isTrue ?? false }
        if let hint = body["hint"], hint.stringValue == nil, hint.documentValue == nil {
            throw CommandFailure(.failedToParse, "Hint must be a string or an object")
        }
        let removes = flag("remove")
        if removes, given("arrayFilters") != nil {
            throw CommandFailure(
                .failedToParse, "Cannot specify arrayFilters and remove=true")
        }
        if removes, given("update") != nil {
            throw CommandFailure(
                .failedToParse, "Cannot specify both an update and remove=true")
        }
        if removes, flag("upsert") {
            throw CommandFailure(
                .failedToParse, "Cannot specify both upsert=true and remove=true ")
        }
        if removes, flag("new") {
            throw CommandFailure(
                .failedToParse,
                "Cannot specify both new=true and remove=true; 'remove' always returns the "
                    + "deleted document")
        }
        guard let update = given("update") else {
            guard !removes else { return }
            throw CommandFailure(
                .failedToParse, "Either an update or remove=true must be specified")
        }
        guard update.documentValue != nil || update.arrayValue != nil else {
            throw CommandFailure(
                .failedToParse, "Update argument must be either an object or an array")
        }
    }

    private static func answer(
        _ call: CommandCall, _ namespace: Namespace, _ transaction: WriteTransaction
    ) throws -> BSONDocument {
        try transaction.take(hint: call["hint"], namespace)
        defer { transaction.hint = nil }
        let collation = try call.collation()
        let variables = call.document("let")
        let filter = try CommandCall.filter(
            call.document("query"), variables: variables, collation: call["collation"])
        try QueryOptionsCheck.check(filter, call, fields: "fields")
        let sort = try call.document("sort").flatMap { document in
            document.isEmpty ? nil : try SortOrder(document, collation: collation)
        }
        let projection = try call.document("fields").flatMap { document in
            document.isEmpty
                ? nil
                : try Projection(document, variables: variables ?? [:], collation: collation)
        }
        if call.flag("new"), projection?.isPositional == true {
            throw CommandFailure(
                .badValue, "cannot use a positional projection and return the new document")
        }
        let shown: (BSONDocument?, BSONDocument?) throws -> BSONValue = { document, selected in
            guard let document else { return .null }
            do throws(StoreError) {
                return .document(
                    try transaction.projected(
                        document, by: projection, filter, namespace, selectedAs: selected))
            } catch {
                throw CommandFailure.framed(error.during(.execution), execution)
            }
        }
        if call.flag("remove") {
            let taken = try transaction.deleteOne(namespace, filter: filter, sort: sort)
            return [
                "lastErrorObject": ["n": taken == nil ? 0 : 1], "value": try shown(taken, nil),
            ]
        }
        let update = try update(call, variables: variables)
        let outcome: UpdateResult
        do throws(StoreError) {
            outcome = try transaction.updateOne(
                namespace, filter: filter, update: update, upsert: call.flag("upsert"), sort: sort)
        } catch {
            throw CommandFailure.framed(WriteBatch.failure(ofUpdate: error), execution)
        }
        return try reply(outcome, isNew: call.flag("new"), shown)
    }

    /// Parses the update.
    static func update(_ call: CommandCall, variables: BSONDocument?) throws -> Update {
        var update = try Update(
            call["update"] ?? .null, variables: variables ?? [:],
            arrayFilters: try arrayFilters(call), collation: try call.collation())
        update.keepsEmptyTimestamps = call.flag("bypassEmptyTsReplacement")
        update.writesEqualReplacement = true
        return update
    }

    private static let execution = "Plan executor error during findAndModify"

    private static func reply(
        _ outcome: UpdateResult, isNew: Bool,
        _ shown: (BSONDocument?, BSONDocument?) throws -> BSONValue
    ) throws -> BSONDocument {
        var last: BSONDocument = [
            "n": outcome.matchedCount > 0 || outcome.upsertedID != nil ? 1 : 0,
            "updatedExisting": .bool(outcome.matchedCount > 0),
        ]
        if let id = outcome.upsertedID { last.append("upserted", id) }
        let image = outcome.images.first
        let document =
            image.map { isNew ? $0.after : $0.before } ?? outcome.unchanged
        return [
            "lastErrorObject": .document(last), "value": try shown(document, image?.before),
        ]
    }

    private static func arrayFilters(_ call: CommandCall) throws(CommandFailure) -> [BSONDocument] {
        var filters: [BSONDocument] = []
        for value in call.array("arrayFilters") ?? [] {
            guard let filter = value.documentValue else {
                throw CommandFailure(
                    .typeMismatch,
                    "BSON field 'findAndModify.arrayFilters.\(filters.count)' is the wrong type "
                        + "'\(value.type.alias)', expected type 'object'")
            }
            filters.append(filter)
        }
        return filters
    }
}
