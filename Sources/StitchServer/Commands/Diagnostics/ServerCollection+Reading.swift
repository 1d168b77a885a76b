internal import BSONStore

extension ServerCollection {
    /// Runs a command on the collection as a pipeline over its documents.
    ///
    /// - Throws: 166 (CommandNotSupportedOnView) for other commands than reads.
    func answer(_ call: CommandCall, _ backend: StoreBackend) throws -> CommandOutcome {
        guard call.readsServerCollection else { throw isReadOnly }
        var stages: [BSONValue] = [
            ["$documents": .array(BSONArray(try documents(backend).map(BSONValue.document)))]
        ]
        switch call.name {
        case "aggregate": stages += call.array("pipeline") ?? []
        case "count": stages += Self.stages(call, filter: "query") + [["$count": "n"]]
        default: stages += Self.stages(call, filter: "filter")
        }
        var body: BSONDocument = [
            "aggregate": 1, "pipeline": .array(BSONArray(stages)), "$db": .string(call.database),
            "cursor": .document(call.document("cursor") ?? Self.cursor(call)),
        ]
        for name in ["let", "collation", "explain"] {
            if let value = call[name] { body.append(name, value) }
        }
        let pipeline = call.standing(
            for: body, as: AggregateCommand.definition.signature,
            givenName: AggregateCommand.definition.name)
        let parsed = ParsedAggregate(pipeline, pipeline.flag("explain") ? nil : backend)
        guard call.name == "count" else {
            return try AggregateCommand.run(parsed, pipeline, backend)
        }
        let found = try AggregateCommand.documents(parsed, pipeline, backend).first?["n"]
        return .reply(["n": found ?? .int32(0)])
    }

    private func documents(_ backend: StoreBackend) throws -> [BSONDocument] {
        switch self {
        case .denied: backend.server.deniedWrites.entries
        case .conflicts: try StoredConflicts(store: backend.store).entries.all()
        }
    }

    private static func cursor(_ call: CommandCall) -> BSONDocument {
        call["batchSize"].map { ["batchSize": $0] } ?? [:]
    }

    private static func stages(_ call: CommandCall, filter: String) -> [BSONValue] {
        var stages: [BSONValue] = []
        if let filter = call.document(filter) { stages.append(["$match": .document(filter)]) }
        if let sort = call.document("sort"), !sort.isEmpty {
            stages.append(["$sort": .document(sort)])
        }
        if let skip = call.number("skip"), skip > 0 {
            stages.append(["$skip": .int64(Int64(skip))])
        }
        let limit = Int64(clamping: call.number("limit")?.magnitude ?? 0)
        if limit > 0 { stages.append(["$limit": .int64(limit)]) }
        if let projection = call.document("projection"), !projection.isEmpty {
            stages.append(["$project": .document(projection)])
        }
        return stages
    }
}
