internal import BSONStore

/// The explanation of a write, with the number of documents it would change.
struct ExplainWriteReply {
    private let filter: Filter
    private let options: FindOptions
    /// The update; `nil` for a delete.
    private let update: Update?
    private let upserts: Bool
    /// Whether the command returns the document.
    private let returns: Bool
    /// Whether the command returns the document as it is after the update.
    private let returnsNew: Bool
    /// The projection of the returned document; empty without one.
    private let fields: BSONDocument

    /// Reads a `findAndModify`, or the first statement of an `update` or `delete`.
    ///
    /// - Throws: the errors of those commands.
    init(_ call: CommandCall) throws {
        let variables = call.document("let")
        var (query, document, isMulti) = (call.document("query"), call.body, false)
        var (update, upserts): (Update?, Bool) = (nil, false)
        returns = call.name == "findAndModify"
        if returns { try FindAndModifyCommand.check(call.body) }
        returnsNew = returns && call.flag("new")
        fields = returns ? call.document("fields") ?? [:] : [:]
        if call.name == "update", let first = try call.documents("updates").first {
            let statement = try UpdateStatement(first)
            (query, document, isMulti) = (statement.query, first, statement.isMulti)
            update = try statement.parsedUpdate(variables: variables)
            upserts = statement.upserts
        } else if call.name == "delete", let first = try call.documents("deletes").first {
            let statement = try DeleteStatement(first)
            (query, document, isMulti) = (statement.query, first, statement.isMulti)
        } else if returns, !call.flag("remove") {
            update = try FindAndModifyCommand.update(call, variables: variables)
            upserts = call.flag("upsert")
        }
        (self.update, self.upserts) = (update, upserts)
        filter = try CommandCall.filter(
            query, variables: UpdateStatement.variables(of: document, beside: variables),
            collation: document["collation"])
        let collation = try CommandCall.collation(document["collation"])
        let sort = try document["sort"]?.documentValue.flatMap {
            $0.isEmpty ? nil : try SortOrder($0, collation: collation)
        }
        options = try FindOptions(
            sort: sort, limit: isMulti ? 0 : 1, hint: try CommandCall.hint(document["hint"]))
    }

    /// Returns the explanation, with the write as the stage around the plan of the query.
    ///
    /// - Throws: the errors that the update would throw; 26 for a `findAndModify` in no database.
    func explained(
        _ namespace: Namespace, _ verbosity: ExplainVerbosity, _ transaction: ReadTransaction
    ) throws -> BSONDocument {
        if returns {
            let name = try Filter(["name": .string(namespace.database)])
            guard try !transaction.listDatabases(filter: name, nameOnly: true).isEmpty else {
                throw CommandFailure(
                    .namespaceNotFound, "database \(namespace.database) does not exist")
            }
        }
        var explained = try transaction.explain(
            namespace, filter: filter, options: options, verbosity: verbosity)
        let stage = update == nil ? "DELETE" : "UPDATE"
        guard var planner = explained["queryPlanner"]?.documentValue,
            let plan = planner["winningPlan"]?.documentValue, plan["stage"] != "EOF"
        else { return explained }
        let winning: BSONDocument = [
            "stage": .string(stage), "inputStage": .document(Self.inner(plan)),
        ]
        planner.set("winningPlan", to: .document(projected(winning)))
        explained.set("queryPlanner", to: .document(planner))
        guard var execution = explained["executionStats"]?.documentValue,
            let plan = execution["executionStages"]?.documentValue
        else { return explained }
        let counts = try counts(namespace, transaction)
        var stages: BSONDocument = ["stage": .string(stage)]
        let isReturned = returns && (counts.matched > 0 || returnsNew && counts.upserted > 0)
        let returned: BSONValue = isReturned ? 1 : 0
        stages.append("nReturned", returned)
        stages.append("executionTimeMillisEstimate", 0)
        for (key, value) in counts.document(isDelete: update == nil) { stages.append(key, value) }
        stages.append("inputStage", .document(Self.inner(plan)))
        execution.set("nReturned", to: returned)
        execution.set("executionStages", to: .document(projected(stages, returned)))
        explained.set("executionStats", to: .document(execution))
        return explained
    }

    /// Returns a stage within the stage of the projection, if there is one.
    private func projected(_ stage: BSONDocument, _ returned: BSONValue? = nil) -> BSONDocument {
        guard !fields.isEmpty else { return stage }
        var outer: BSONDocument = ["stage": "PROJECTION_DEFAULT"]
        if let returned { outer.append("nReturned", returned) }
        outer.append("transformBy", .document(fields))
        outer.append("inputStage", .document(stage))
        return outer
    }

    /// Returns a plan without its limit stage, since a single-document write stops by itself.
    private static func inner(_ plan: BSONDocument) -> BSONDocument {
        guard plan["stage"] == "LIMIT", let input = plan["inputStage"]?.documentValue else {
            return plan
        }
        return input
    }

    private struct Counts {
        var matched: Int32 = 0
        var modified: Int32 = 0
        var upserted: Int32 = 0

        func document(isDelete: Bool) -> BSONDocument {
            isDelete
                ? ["nWouldDelete": .int32(matched)]
                : [
                    "nMatched": .int32(matched), "nWouldModify": .int32(modified),
                    "nWouldUpsert": .int32(upserted),
                ]
        }
    }

    private func counts(
        _ namespace: Namespace, _ transaction: ReadTransaction
    ) throws -> Counts {
        var counts = Counts()
        let query = try transaction.planned(namespace, filter, options)
        let update = try self.update.map { try transaction.completed($0, namespace) }
        try transaction.forEach(query) { document in
            counts.matched += 1
            guard let update else { return }
            if try update.apply(to: document, matching: query.filter) != nil {
                counts.modified += 1
            }
        }
        if update != nil, upserts, counts.matched == 0 { counts.upserted = 1 }
        return counts
    }
}
